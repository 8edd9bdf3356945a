"""The forms in which an experiment runs on this machine."""
from measuring.runs import Form


def native_forms(machine, experiment, natives, most):
    """natives: [(vendor, devices)]. Each device alone, but no more than `most` of a vendor, plainly and overlapped by hand."""
    forms = []
    for vendor, devices in natives:
        for number, _, _, name in devices[:most]:
            label = f'{vendor} {name}' if len(devices) == 1 else f'{vendor} {number} {name}'
            for kind, folder in (('native', ''), ('asynchronous', 'asynchronous')):
                if kind == 'native' or experiment.asynchronous:
                    command = [machine.program(folder, experiment.program), '--device', str(number)]
                    forms.append(Form(kind, label, command, machine.native(vendor), device=name))
    return forms


def counts(n):
    """1, 2, 4 devices and all, as many as there are; one alone is the plain program's matter."""
    return sorted({k for k in (2, 4, n) if 1 < k <= n})


def cut_forms(machine, experiment, devices, sweep):
    """devices: of all vendors together. Blocks go in two ways; a launch by equal weights, between two devices also by the
    shares (in per cent for the first) that are asked for."""
    forms = []
    command = [machine.program('cut', experiment.program)]
    for n in counts(len(devices)) if experiment.cut else []:
        chosen = ['--devices', ','.join(str(d[0]) for d in devices[:n])]
        if experiment.cut == 'blocks':
            forms += [Form('cut', f'{how}, {n} devices', command + chosen + ['--cut', how], machine.native())
                      for how in ('block', 'cyclic') + (('factors',) if experiment.program == 'chain' and n > 1 else ())]
            continue
        forms.append(Form('cut', f'equal, {n} devices', command + chosen, machine.native()))
        for share in sweep if n == 2 else []:
            forms.append(Form('cut', f'{share} : {100 - share}, 2 devices',
                              command + chosen + ['--weights', f'{share},{100 - share}'], machine.native()))
    return forms


def socl_forms(machine, experiment):
    if not machine.socl:
        return []
    return [Form('socl', 'SOCL', [machine.program('', experiment.program), '--platform', 'SOCL'], machine.socl_environment())]


def tesela_forms(machine, experiment, sets, orders, names):
    """names: of the members' devices."""
    return [Form('tesela', f'Tesela {order}, {members}', [machine.program('', experiment.program)],
                 machine.tesela(members, order), members, order, names.get(members, ''))
            for members in sets for order in orders]
