# Shared by tests/run and examples/run, which source it with bash.
#
#   parse_options "$@"   sets install, build, prebuilt, sanitize; unknown words are left in rest
#   install_packages G... installs these groups of scripts/packages, or stops with the command to run
#   build_targets T...   configures and builds, or makes a prebuilt folder work in its present place

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${JOBS:-$(nproc)}
cmake_options='' # words for CMake when it configures
command_line=$0

say() {
    printf '\n== %s\n' "$*"
}

fail() {
    printf '%s: %s\n' "$command_line" "$*" >&2
    exit 2
}

# The options of both commands; the caller defines usage().
parse_options() {
    install=1 build='' prebuilt='' sanitize='' rest=()
    while [ $# -gt 0 ]; do
        case $1 in
        --no-install) install='' ;;
        --build)
            [ $# -ge 2 ] || fail "--build needs a folder"
            [ -d "$2" ] || fail "--build $2: there is no such folder"
            prebuilt=1 build=$(cd "$2" && pwd)
            shift
            ;;
        --sanitize)
            case ${2:-} in
            asan | tsan) sanitize=$2 ;;
            *) fail "--sanitize is asan or tsan" ;;
            esac
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) rest+=("$1") ;;
        esac
        shift
    done
    if [ -n "$prebuilt" ] && [ -n "$sanitize" ]; then
        fail "--build uses a folder as it was built: --sanitize can't be added"
    fi
    build=${build:-$source_dir/build${sanitize:+-$sanitize}}
}

# The packages of some groups of the list.
listed_packages() {
    local groups=" $* "
    awk -v groups="$groups" '
        /^\[/ { group = substr($0, 2, length($0) - 2); next }
        /^[^#]/ && index(groups, " " group " ") { print $1 }' "$source_dir/scripts/packages"
}

# Those of some groups that aren't installed, on one line.
missing_packages() {
    local package status
    for package in $(listed_packages "$@"); do
        status=$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null || true)
        case $status in
        *not-installed* | '') printf '%s ' "$package" ;;
        *installed*) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

install_packages() {
    local missing
    [ -n "$install" ] || return 0
    if ! command -v dpkg-query >/dev/null; then
        fail "this is no Debian: install the likes of the packages in scripts/packages, then run with --no-install"
    fi
    missing=$(missing_packages "$@")
    missing=${missing% }
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "$command_line: packages are missing, and installing them takes root. Run this, then try again:" >&2
        echo "  sudo apt-get update && sudo apt-get install --yes --no-install-recommends $missing" >&2
        exit 3
    fi
    say "installing packages: $missing"
    # Waits for the lock: a fresh machine often updates itself at the same time.
    export DEBIAN_FRONTEND=noninteractive
    progress "asking which packages there are" apt-get -q -o DPkg::Lock::Timeout=600 update ||
        fail "apt-get update failed: is the network there?"
    room_for "$missing"
    # dpkg's flush of each file to disk takes as long as all else: a machine that loses power here starts again.
    # shellcheck disable=SC2086 # The list is words on purpose.
    progress "downloading and installing" apt-get -q -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-unsafe-io install --yes --no-install-recommends $missing ||
        fail "apt-get could not install the packages"
}

# What apt-get says that packages will take, before it takes it.
room_for() {
    # shellcheck disable=SC2086 # The list is words on purpose.
    LC_ALL=C apt-get -q -o DPkg::Lock::Timeout=600 install --assume-no --no-install-recommends $1 2>/dev/null |
        sed -nE 's/^(Need to get |After this operation)/   \1/p' || true
}

# progress WHAT COMMAND...: runs the command and shows how far it is, a line every few seconds; all that it says only if it
# fails. The line counts packages of apt-get and steps of make and ninja.
progress() {
    local what=$1 log since=$SECONDS pid status=0
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        if [ $((SECONDS - since)) -ge 5 ]; then
            since=$SECONDS
            echo "   $what: $(how_far "$log")($SECONDS s)"
        fi
    done
    wait "$pid" || status=$?
    [ $status -eq 0 ] || tail -n 40 "$log" >&2
    rm -f "$log"
    return $status
}

# How far a log says that it is; empty if it doesn't say. Ninja counts steps that are over, make those that it began: its last
# ones take long while it already says 100%, so the newest is named.
how_far() {
    local n m
    n=$(grep -oE '^\[ *[0-9]+/[0-9]+' "$1" | tail -n 1 | tr -d '[ ' || true)
    m=$(grep -E '^\[ *[0-9]+%\] (Building|Linking|Generating) ' "$1" | tail -n 1 || true)
    if [ -n "$m" ]; then
        n=${m#\[} n="${n%%%*}% of the steps begun, the last of them for ${m##*[ /]}"
        n=${n# } n=${n# } n=${n%.o}
    fi
    m=$(awk '/ newly installed/ { print $1 + $3 }' "$1" | tail -n 1) # "2 upgraded, 137 newly installed, …"
    if [ -n "$m" ]; then
        n="$(grep -c '^Setting up ' "$1") of $m packages, $(grep -c '^Unpacking ' "$1") unpacked, $(grep -c '^Get:' "$1") fetched"
    fi
    [ -z "$n" ] || echo "$n "
}

# A folder that was built elsewhere works: only its .icd files have absolute paths.
revive() {
    [ -e "$build/libtesela.so" ] || fail "$build holds no libtesela.so: it was not built"
    mkdir -p "$build/icd"
    echo "$build/libtesela.so" >"$build/icd/tesela.icd"
    say "using $build as it is"
    "$source_dir/scripts/vendors" "$build"
}

build_targets() {
    if [ -n "$prebuilt" ]; then
        revive
        return
    fi
    say "building in $build"
    progress configuring cmake -S "$source_dir" -B "$build" "-DTESELA_SANITIZE=$sanitize" $cmake_options ||
        fail "cmake could not configure"
    progress building cmake --build "$build" -j "$jobs" ${1:+--target "$@"} || fail "the build failed"
}

# The user's own settings must not change what tests and examples show.
clean_environment() {
    local variable
    for variable in $(compgen -e); do
        case $variable in
        TESELA_* | OCL_ICD_* | OPENCL_LAYERS | OPENCL_LAYER_PATH | POCL_* | RUSTICL_* | OCLGRIND_*) unset "$variable" ;;
        esac
    done
}

# For programs run outside of CTest, which sets the same for its tests.
set_sanitizer_options() {
    local suppressions=$source_dir/tests/suppressions
    export LSAN_OPTIONS=suppressions=$suppressions/lsan.txt:print_suppressions=0
    export TSAN_OPTIONS=suppressions=$suppressions/tsan.txt:halt_on_error=1:second_deadlock_stack=1
    export UBSAN_OPTIONS=print_stacktrace=1
}
