#compdef tesela
# Completion of the command `tesela` for zsh. Installed as _tesela where zsh looks for functions; may be read with `source`.

_tesela_commands() {
    local -a commands=(
        'info:show the devices, what was left out, and the settings'
        'doctor:tell what keeps devices or programs from working'
        'run:run a program on Tesela'
        'compare:run a program on each vendor, on each member and on all'
        'report:make a page that shows what happened in a run'
        'meters:tell how busy each device and link was'
    )
    _describe -t commands command commands
}

# The words of an option's value: several may follow each other with commas between them.
_tesela_levels() {
    _values -s , levels error warn info debug place\\:info place\\:debug graph\\:debug opencl\\:debug compiler\\:info
}

_tesela_members() {
    _values -s , members cpu cuda\\:0 opencl\\:0.0
}

_tesela_policies() {
    compadd -S '' -- weights= weights-whole=
    compadd -- auto eager model fastest round-robin
}

# Options come before the program; behind it stand its own words.
typeset -ga _tesela_program=('(-)1:program:_command_names -e' '*::argument:_normal')
typeset -ga _tesela_help=('(- *)--help[tell the options]')

_tesela_info() {
    _arguments -s -S -A '-*' : $_tesela_help \
        '(-j --json)'{-j,--json}'[print JSON]' \
        '--why=-[tell what kept launches from being cut]::kernel:' \
        '(-)1:timeline or program:_files' '*::argument:_normal'
}

_tesela_doctor() {
    _arguments -s -S : $_tesela_help \
        '(-j --json)'{-j,--json}'[print JSON]' \
        '--root=[look at the system in this folder]:folder:_directories'
}

_tesela_run() {
    _arguments -s -S -A '-*' : $_tesela_help \
        '(-m --members)'{-m+,--members=}'[use these devices only]:members:_tesela_members' \
        '(-p --policy)'{-p+,--policy=}'[how commands are placed]:policy:_tesela_policies' \
        '(-t --trace)'{-t+,--trace=}'[write a timeline]:file:_files' \
        '(-l --log)'{-l+,--log=}'[tell more]:levels:_tesela_levels' \
        '(-v --vendors)'{-v+,--vendors=}'[look for .icd files there]:folder:_directories' \
        '--nodes=[use devices of other machines]:number or file of hosts:_files' \
        '--offer=[which of its devices a node offers]:members:_tesela_members' \
        '(--icd)--layer[be a layer of the loader]' \
        '(--layer)--icd=[the folder of tesela.icd]:folder:_directories' \
        $_tesela_program
}

_tesela_compare() {
    _arguments -s -S -A '-*' : $_tesela_help \
        '(-r --rounds)'{-r+,--rounds=}'[run each so often]:number:' \
        '*'{-f+,--file=}'[compare this file, too]:file:_files' \
        '(-m --members)'{-m+,--members=}'[use these devices only]:members:_tesela_members' \
        '(-v --vendors)'{-v+,--vendors=}'[look for .icd files there]:folder:_directories' \
        '--limit=[end a run after so many seconds]:seconds:' \
        '(-j --json)'{-j,--json}'[print JSON]' \
        '--icd=[the folder of tesela.icd]:folder:_directories' \
        $_tesela_program
}

_tesela_report() {
    _arguments -s -S : $_tesela_help \
        '(-o --output)'{-o+,--output=}'[write the page there]:file:_files' \
        '1:timeline:_files'
}

_tesela_meters() {
    _arguments -s -S : $_tesela_help \
        '(-j --json)'{-j,--json}'[print JSON]' \
        '1:timeline:_files'
}

_tesela() {
    local curcontext=$curcontext state
    local -A opt_args

    _arguments -C -A '-*' : $_tesela_help '(- *)--version[tell the version]' '1:command:_tesela_commands' '*::argument:->rest'
    [[ $state == rest ]] && (($+functions[_tesela_$words[1]])) && _tesela_$words[1]
}

# Loaded as a function by zsh itself, or read with `source`.
if [[ $funcstack[1] == _tesela ]]; then
    _tesela "$@"
else
    compdef _tesela tesela
fi
