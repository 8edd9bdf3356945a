# Completion of the command `tesela` for bash. Installed as share/bash-completion/completions/tesela.

# The index of the program that `run`, `compare` or `info --why` is given: the first word that is no option and no option's
# value; empty if there is none before the cursor.
_tesela_program() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)); return ;;
        --*=*) ;;
        =) ((i++)) ;;
        -[mptlvrfo] | --members | --policy | --trace | --log | --vendors | --nodes | --offer | --icd | --rounds | --file | --limit | --output | --root) ((i++)) ;;
        -*) ;;
        *) echo "$i"; return ;;
        esac
    done
}

# The option whose value is being written, if one is: "--policy=", "--policy =" and "-p " are the same here.
_tesela_option() {
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ ${COMP_WORDS[COMP_CWORD]} == = || $before == = ]]; then
        [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    [[ $before == -* ]] && echo "$before"
}

_tesela_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_tesela_value() {
    case $1 in
    -p | --policy) _tesela_words 'auto eager model fastest round-robin weights= weights-whole=' ;;
    -l | --log) _tesela_words 'error warn info debug place:info place:debug graph:debug opencl:debug compiler:info' ;;
    -v | --vendors | --icd | --root) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    -t | --trace | --nodes | -o | --output | -f | --file) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    -m | --members | --offer) _tesela_words 'cpu cuda:0 opencl:0.0' ;;
    -r | --rounds | --limit) COMPREPLY=() ;;
    *) return 1 ;;
    esac
}

_tesela_options() {
    case $1 in
    info) echo '--json --why --help' ;;
    run) echo '--members --policy --trace --log --vendors --nodes --offer --layer --icd --help' ;;
    compare) echo '--rounds --file --members --vendors --limit --json --icd --help' ;;
    report) echo '--output --help' ;;
    meters) echo '--json --help' ;;
    doctor) echo '--json --root --help' ;;
    esac
}

_tesela() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} program option
    [[ $current == = ]] && current=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _tesela_words 'info doctor run compare report meters --help --version'
        return
    fi
    program=$(_tesela_program)
    if [[ -n $program && $command =~ ^(run|compare|info)$ ]]; then
        if ((program < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
            _command_offset "$program"
        else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$current" | sort -u)
        fi
        return
    fi
    option=$(_tesela_option)
    [[ -n $option ]] && ((COMP_CWORD > 2)) && _tesela_value "$option" && return
    if [[ $current == -* ]]; then
        _tesela_words "$(_tesela_options "$command")"
    elif [[ $command =~ ^(run|compare)$ ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
    elif [[ $command =~ ^(report|meters|info)$ ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -o filenames -F _tesela tesela
