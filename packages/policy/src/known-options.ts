import { type Options, optionsOf } from "./options.ts"

/**
 * Programs that can run others, or that read and can write: which of their options and verbs do neither. A star covers
 * these and no others, so that an option nobody thought of, or one written shorter than here, is asked about.
 * `optionsOf` says how they are written; a program with verbs has a list for each.
 */
type Listed = string | Readonly<Record<string, string>>

const AWK = "-F: -v: --version --help"
const SED =
  "-nErsuz -e: !-i? --quiet --silent --regexp-extended --expression= --null-data --separate --posix --sandbox --version --help !--in-place?"
const GREP_LIKE = "-nilcvwoFSsUHNIap0h -e: -g: -t: -T: -A: -B: -C: -m: -M: -r: -j: -f: -d:"
const FD =
  "-HIuasipgL0qF1 -e: -t: -d: -E: -c: -j: -S: --hidden --no-ignore --extension= --type= --max-depth= --min-depth= --exclude= --glob --full-path --absolute-path --ignore-case --case-sensitive --fixed-strings --follow --print0 --color= --size= --changed-within= --changed-before= --max-results= --no-ignore-vcs --one-file-system --version --help"
const CC = "-cSEvw -o: -I: -L: -l: -D: -U: --version --help"
const SHOW =
  "-pzabwRBMC0123456789 -n: -L: -S: -G: -U: -u? -s -m -c -t -q -v -i -E -F -P -r --stat? --shortstat --numstat --patch --name-only --name-status --oneline --graph --all --decorate? --no-decorate --abbrev-commit --abbrev? --pretty? --format= --date= --since= --after= --until= --before= --author= --committer= --grep= --max-count= --skip= --follow --merges --no-merges --first-parent --reverse --topo-order --date-order --left-right --cherry-pick --branches? --tags? --remotes? --no-color --color? --color-words? --word-diff? --unified= --cached --staged --no-index --ignore-all-space --ignore-space-change --ignore-blank-lines --find-renames? --find-copies? --diff-filter= --relative? --minimal --histogram --patience --raw --summary --check --quiet --exit-code --no-patch --no-ext-diff --no-textconv --merge-base --no-renames --dirstat? --full-index --binary --source --no-walk? --boundary --simplify-by-decoration --show-signature --text --function-context --inter-hunk-context= --compact-summary --ignore-case --no-prefix !--output="
const REMOTE =
  "-qvfnutp -o: -4 -6 -j: -r --all --tags --prune --force --force-with-lease? --force-if-includes --dry-run --quiet --verbose --progress --set-upstream --delete --follow-tags --no-verify --mirror --atomic --porcelain --depth= --unshallow --no-tags --ff-only --no-ff --ff --rebase? --no-rebase --autostash --no-edit --squash --recurse-submodules? --single-branch --branch= --bare --shallow-since= --filter= --no-checkout --heads --refs --symref --get-url"
const CHANGE =
  "-qvfnipNAudDmMrstewWzl -m: -b: -B: -C: -c: -F: -X: -a --all --message= --file= --amend --no-edit --author= --date= --signoff --no-verify --allow-empty --allow-empty-message --quiet --verbose --dry-run --force --update --intent-to-add --patch --interactive --fixup= --squash= --reuse-message= --cleanup= --no-gpg-sign --abort --continue --skip --quit --onto --onto= --autosquash --no-autosquash --autostash --hard --soft --mixed --keep --merge --cached --staged --worktree --source= --theirs --ours --detach --track? --no-track --create= --orphan= --delete --move --copy --list --contains? --no-contains? --merged? --no-merged? --sort= --format= --show-current --set-upstream-to= --unset-upstream --remotes --no-ff --ff-only --ff --squash --no-commit --commit --stat --no-stat --allow-unrelated-histories --root --annotate --column? --include-untracked --keep-index --mainline= --edit --recursive --ignore-unmatch --short --branch --porcelain? --untracked-files? --ignored? --renormalize --chmod= --refresh --points-at= --verify --color? --no-color --ignore-other-worktrees --pathspec-from-file="

const GIT: Readonly<Record<string, string>> = {
  status:
    "-sbvz -u? --short --branch --porcelain? --untracked-files? --ignored? --long --show-stash --verbose --no-renames",
  log: SHOW,
  show: SHOW,
  diff: SHOW,
  "diff-tree": SHOW,
  "diff-index": SHOW,
  "diff-files": SHOW,
  whatchanged: SHOW,
  shortlog: "-snec -w? --summary --numbered --email --group= --since= --until= --no-merges --all",
  reflog: SHOW,
  "rev-list": `${SHOW} --count --objects --parents`,
  blame: "-bcefklnpstwCM -L: --porcelain --line-porcelain --date= --since= --root --show-stats",
  "rev-parse":
    "-q --show-toplevel --abbrev-ref? --short? --verify --is-inside-work-tree --git-dir --show-prefix --quiet --symbolic-full-name --git-common-dir --absolute-git-dir --show-cdup --all --branches? --tags?",
  "ls-files":
    "-cdomsuiktvz -x: -X: --cached --deleted --others --modified --exclude-standard --stage --full-name --error-unmatch --ignored --directory --exclude=",
  "ls-tree": "-rdtlz --name-only --full-tree --long --name-status --abbrev? --format=",
  "ls-remote": "-qht --heads --tags --refs --symref --quiet --exit-code --sort=",
  "cat-file": "-tsepq --batch-check --batch",
  "for-each-ref": "--sort= --format= --count= --contains? --merged? --no-merged? --points-at=",
  "show-ref": "-qsd --heads --tags --verify --hash? --head --dereference",
  "merge-base": "-a --all --octopus --is-ancestor --independent --fork-point",
  "name-rev": "--name-only --tags --refs=",
  "count-objects": "-vH --verbose",
  describe: "--tags --all --always --abbrev= --dirty? --long --match= --exact-match --contains --first-parent",
  grep: "-acEFGHhilLnoPpqvwWz -e: -f: -A: -B: -C: -m: --cached --untracked --count --ignore-case --line-number --name-only --files-with-matches --word-regexp --extended-regexp --fixed-strings --perl-regexp --recurse-submodules --heading --break --and --or --not --max-depth= --color?",
  cherry: "-v --abbrev?",
  add: CHANGE,
  rm: CHANGE,
  mv: "-fknv --force --dry-run --verbose",
  commit: `${CHANGE} -S?`,
  reset: CHANGE,
  restore: `${CHANGE} -S -s: --source=`,
  checkout: CHANGE,
  switch: CHANGE,
  branch: CHANGE,
  tag: `${CHANGE} -n?`,
  stash: CHANGE,
  merge:
    "-nqv -m: -F: -X: --no-ff --ff-only --ff --squash --no-commit --commit --no-edit --abort --continue --quit --stat --no-stat --autostash --allow-unrelated-histories --message= --verbose --quiet --signoff",
  "cherry-pick": "-nxse -m: -X: --no-commit --abort --continue --skip --quit --signoff --mainline= --allow-empty --ff",
  revert: "-nse -m: -X: --no-commit --no-edit --abort --continue --skip --quit --signoff --mainline=",
  rebase:
    "-qvnf -X: --onto --onto= --abort --continue --skip --quit --autosquash --no-autosquash --autostash --no-autostash --root --rebase-merges? --keep-base --quiet --verbose --stat --no-stat --force-rebase --update-refs",
  clean: "-dfnqxX -e: --dry-run --force --quiet --exclude=",
  init: "-q -b: --bare --quiet --initial-branch=",
  push: REMOTE,
  pull: REMOTE,
  fetch:
    "-qvfntpam46k -j: --all --tags --prune --force --dry-run --quiet --verbose --progress --depth= --deepen= --unshallow --no-tags --multiple --append --jobs= --prune-tags --set-upstream --refetch --shallow-since= --recurse-submodules? --atomic --porcelain",
  clone:
    "-qvlns46 -b: -o: -j: --quiet --verbose --progress --depth= --branch= --single-branch --bare --mirror --no-checkout --recursive --recurse-submodules? --shallow-submodules --no-tags --origin= --filter= --jobs= --shallow-since= --local --no-local --sparse",
  remote: "-vnp -t: -m: --verbose --push --all --dry-run --prune --add --delete",
  archive: "-lv -9876543210 --format= --prefix= --list --verbose !-o: !--output=",
}

/** The same options for each of the verbs, which commas part. */
function each(verbs: string, options: string): Record<string, string> {
  return Object.fromEntries(verbs.split(",").map((verb) => [verb.trim(), options]))
}

const NPM =
  "-sSDEOgfdq -w: -y --silent --quiet --verbose --save --save-dev --save-exact --save-optional --save-peer --no-save --global --force --no-audit --no-fund --audit? --fund? --offline --prefer-offline --prefer-online --legacy-peer-deps --strict-peer-deps --ignore-scripts --production --omit= --include= --workspace= --workspaces --include-workspace-root --if-present --json --long --parseable --depth= --all --dry-run --tag= --access= --otp= --package-lock-only --no-package-lock --frozen-lockfile --no-frozen-lockfile --loglevel= --filter= --recursive --prod --dev --exact --latest --immutable --check-cache --ignore-engines --no-progress --progress? --yes --non-interactive --audit-level= --aggregate-output --stream --no-optional --no-lockfile --reporter="
const INSTALLS = each(
  "install, i, ci, add, test, t, tst, start, stop, restart, ls, list, ll, outdated, view, info, show, audit, whoami, ping, pack, publish, root, bin, uninstall, remove, rm, un, update, up, upgrade, dedupe, prune, help, search, version, fund, explain, why, doctor",
  NPM,
)
const SCRIPTS = { run: `named ${NPM}`, "run-script": `named ${NPM}` }

const CONTAINER =
  "-aqfnltsvi --all --quiet --filter= --format= --no-trunc --follow --tail= --since= --until= --timestamps --size --type= --force --time= --volumes --no-stream --digests --signal="
const CONTAINERS = each(
  "ps, images, logs, inspect, version, info, top, stats, port, diff, history, search, events, rm, rmi, stop, start, restart, kill, pause, unpause, wait, rename, pull, push, tag, logout, compose ps, compose logs, compose top, compose images, compose ls, compose version",
  CONTAINER,
)
const KUBECTL =
  "-Aw -n: -o: -l: -f -c: -p --namespace= --output= --selector= --all-namespaces --all --watch --follow --tail= --since= --container= --previous --timestamps --context= --show-labels --sort-by= --field-selector= --no-headers --ignore-not-found --limit= --containers --timeout= --for= --replicas= --dry-run? --wait? --grace-period= --force --overwrite"
const CARGO =
  "-vqr -p: -j: -F: --release --all --workspace --all-targets --all-features --features= --package= --lib --bins --bin= --tests --test= --examples --example= --benches --no-run --no-fail-fast --verbose --quiet --locked --offline --frozen --target= --jobs= --message-format= --color= --no-default-features --exclude= --doc --check --no-deps --all-files --nocapture --test-threads= --ignored --exact --depth= --invert= --edges= --format-version= --keep-going --profile="
const GO =
  "-v -race -run= -bench= -benchmem -benchtime= -count= -cover -covermode= -short -timeout= -json -x -n -a -tags= -p= -parallel= -failfast -m -u -f= -l -d -s -w -t -deps -shuffle= -cpu= -trimpath -skip= -versions -e -all !-o= !-coverprofile= !-cpuprofile= !-memprofile="
const OPENSSL =
  "single -in= -text -noout -subject -issuer -dates -fingerprint -sha1 -sha256 -sha512 -md5 -base64 -d -a -e -connect= -servername= -showcerts -serial -enddate -startdate -checkend= -modulus -pubkey -inform= -outform= -hex -binary -help !-out= !-writerand="
const PIP =
  "-qvUI -r: -c: --quiet --upgrade --user --no-cache-dir --requirement= --constraint= --no-deps --pre --outdated --format= --yes -y --dry-run --disable-pip-version-check --break-system-packages --only-binary= --no-input"
const BAT =
  "-ApnudfSLP -l: -H: -r: -m: --show-all --plain --number --unbuffered --diff --diff-context= --language= --highlight-line= --line-range= --map-syntax= --file-name= --tabs= --wrap= --terminal-width= --color= --decorations= --force-colorization --paging= --theme= --style= --italic-text= --squeeze-blank --list-languages --list-themes --no-config"
const PYTEST =
  "-qvsxlh -k: -m: -n: -r: --verbose --quiet --exitfirst --capture= --showlocals --tb= --maxfail= --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --durations= --collect-only --co --no-header --no-summary --disable-warnings --strict-markers --strict-config --strict --color= --markers --fixtures --deselect= --ignore= --ignore-glob= --numprocesses= --timeout= --cache-clear --setup-show --cov? --cov-branch --no-cov !--cov-report= !--junitxml= !--junit-xml= !--log-file="
const RUFF =
  "-qvsne --quiet --verbose --silent --no-cache --select= --ignore= --extend-select= --extend-ignore= --exclude= --extend-exclude= --output-format= --statistics --diff --check --no-fix --unsafe-fixes --show-fixes --target-version= --preview --line-length= --show-files --show-settings --exit-zero --exit-non-zero-on-fix --force-exclude --respect-gitignore --stdin-filename= --isolated --all --range= !--fix !--fix-only !--add-noqa !-o: !--output-file="

export const KNOWN: ReadonlyMap<string, Listed> = new Map<string, Listed>(
  Object.entries({
    awk: AWK,
    gawk: AWK,
    mawk: AWK,
    nawk: AWK,
    sed: SED,
    sort: "-bdfghiMnRrsuVzcCm -k: -t: -S: -T: --numeric-sort --reverse --unique --key= --field-separator= --version-sort --human-numeric-sort --ignore-case --check? --stable --general-numeric-sort --random-sort --zero-terminated --ignore-leading-blanks --dictionary-order --month-sort --parallel= --buffer-size= --help --version !-o: !--output=",
    uniq: "-cdDuiz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --zero-terminated --all-repeated? --group? --help --version",
    curl: "-sSfLkiIvgGNnqjl#012346 -H: -A: -e: -b: -d: -m: -u: -X: -x: -r: -F: -w: --silent --show-error --fail --location --insecure --include --head --verbose --globoff --get --no-buffer --header= --user-agent= --data= --data-raw= --data-urlencode= --data-binary= --form= --request= --max-time= --connect-timeout= --retry= --retry-delay= --retry-all-errors --compressed --url= --user= --referer= --cookie= --proxy= --http1.1 --http2 --ipv4 --ipv6 --json= --fail-with-body --max-redirs= --resolve= --noproxy= --cacert= --no-progress-meter --progress-bar --write-out= --version --help !-o: !-O !-J !-T: !-c: !-D: !--output= !--remote-name !--remote-header-name !--upload-file= !--cookie-jar= !--dump-header= !--remote-name-all !--output-dir= !--create-dirs",
    wget: "-qcNvSrkpbE -O: -P: -T: -t: -U: -l: -A: -R: -i: --quiet --continue --no-check-certificate --timeout= --tries= --header= --user-agent= --output-document= --directory-prefix= --no-verbose --show-progress --server-response --spider --recursive --level= --no-parent --mirror --convert-links --page-requisites --method= --post-data= --no-clobber",
    tee: "-aip --append --ignore-interrupts",
    dd: "",
    split:
      "-dxuae -l: -b: -n: -a: -C: -t: --lines= --bytes= --number= --numeric-suffixes? --suffix-length= --additional-suffix= --verbose",
    xxd: "-abeiupdE -c: -g: -l: -s: -o: -n: !-r",
    date: "-uR -I? -d: -r: --date= --utc --iso-8601? --rfc-3339= --reference= --universal --help --version !-s: !--set=",
    file: "-bikLhzsNnrvI0 -f: -F: -m: --brief --mime --mime-type --mime-encoding --dereference --extension --help --version !-C !--compile",
    diff: "-urNqyabBwiEtTpscden -U: -C: -x: -I: -W: -F: -L: --unified? --context? --brief --recursive --color? --side-by-side --ignore-all-space --ignore-space-change --ignore-blank-lines --new-file --exclude= --strip-trailing-cr --suppress-common-lines --width= --label= --text --report-identical-files --minimal --help --version !--output=",
    shuf: "-erz -i: -n: --head-count= --input-range= --echo --repeat --random-source= --zero-terminated !-o: !--output=",
    base64: "-dD -w: --decode --wrap= --ignore-garbage --help --version !-o: !--output=",
    tree: "-adfilpsugDFhCnAqNQJXrtcUvS -L: -P: -I: -H: -T: --noreport --dirsfirst --gitignore --prune --du --si --filelimit= --charset= --matchdirs --fromfile --version --help !-o: !--output=",
    yq: "-erPMCNjn -o: -p: -I: --exit-status --raw-output --prettyPrint --no-colors --colors --no-doc --null-input --output-format= --input-format= --indent= --unwrapScalar? --version !-i !--inplace",
    openssl: each(
      "x509, dgst, s_client, version, verify, enc, rand, crl, asn1parse, pkey, rsa, ec, ciphers, base64, sha256, md5",
      OPENSSL,
    ),
    tcpdump: "-nvAXqetSlDxL -i: -c: -s: -r: !-w:",
    rg: `${GREP_LIKE} -PLuq --files --hidden --no-ignore --glob= --type= --json --count --count-matches --files-with-matches --files-without-match --line-number --no-line-number --context= --max-count= --stats --sort= --multiline --pcre2 --vimgrep --heading --no-heading --color= --iglob= --type-not= --type-list --ignore-case --smart-case --word-regexp --fixed-strings --only-matching --invert-match --max-depth= --follow --no-messages --column --after-context= --before-context= --replace= --regexp= --case-sensitive --with-filename --no-filename --null --passthru --trim --unrestricted --max-columns= --text --version --help --no-ignore-vcs --max-filesize=`,
    bat: BAT,
    batcat: BAT,
    eslint:
      "-hv --ext= --quiet --max-warnings= --no-inline-config --report-unused-disable-directives --rule= --env= --global= --ignore-pattern= --no-ignore --no-error-on-unmatched-pattern --no-warn-ignored --pass-on-no-patterns --stdin --stdin-filename= --color --no-color --cache --debug --print-config= --fix-dry-run --concurrency= --stats !--fix !-o: !--output-file=",
    prettier:
      "-clhu --check --list-different --no-config --no-editorconfig --ignore-path= --ignore-unknown --no-error-on-unmatched-pattern --log-level= --color --no-color --stdin-filepath= --tab-width= --use-tabs --print-width= --single-quote --no-semi --trailing-comma= --prose-wrap= --end-of-line= --file-info= --find-config-path= --with-node-modules !-w !--write",
    pytest: PYTEST,
    "py.test": PYTEST,
    ruff: each("check, format, rule, linter, config, version", RUFF),
    jest: "-ibohf -t: -w: --ci --coverage --no-coverage --verbose --silent --watch --watchAll --testNamePattern= --testPathPattern= --testPathPatterns= --runInBand --bail? --maxWorkers= --onlyChanged --onlyFailures --changedSince= --passWithNoTests --findRelatedTests --listTests --json --no-cache --detectOpenHandles --forceExit --expand --colors --noStackTrace --testTimeout= --shard= !-u !--updateSnapshot !--outputFile=",
    vitest:
      "-hvw -t: --run --watch --testNamePattern= --coverage --bail= --maxWorkers= --minWorkers= --project= --silent? --no-color --passWithNoTests --changed? --retry= --testTimeout= --hideSkippedTests --logHeapUsage --allowOnly --globals --isolate --no-isolate --no-file-parallelism --exclude= --shard= --typecheck !-u !--update !--outputFile=",
    mypy: "-qvhV -p: -m: -c: --strict --ignore-missing-imports --show-error-codes --hide-error-codes --show-column-numbers --show-error-context --pretty --no-error-summary --no-color-output --follow-imports= --python-version= --platform= --package= --module= --exclude= --no-incremental --namespace-packages --explicit-package-bases --check-untyped-defs --disallow-untyped-defs --disallow-incomplete-defs --disallow-any-generics --warn-unused-ignores --warn-redundant-casts --warn-return-any --warn-unreachable --no-implicit-optional --strict-optional --enable-error-code= --disable-error-code= --verbose !--junit-xml= !--html-report= !--txt-report= !--xml-report= !--any-exprs-report= !--linecount-report= !--lineprecision-report=",
    tsc: "single -noEmit -strict -pretty -w -watch -skipLibCheck -t= -target= -m= -module= -moduleResolution= -lib= -jsx= -types= -allowJs -checkJs -esModuleInterop -resolveJsonModule -isolatedModules -noUnusedLocals -noUnusedParameters -noImplicitAny -strictNullChecks -listFiles -listFilesOnly -showConfig -explainFiles -diagnostics -extendedDiagnostics -traceResolution -preserveWatchOutput -noErrorTruncation -h -v -version -help -all !-p= !-project= !-b !-build !-d !-declaration !-outDir= !-outFile= !-declarationDir= !-tsBuildInfoFile= !-generateTrace= !-generateCpuProfile=",
    fdfind: FD,
    fd: FD,
    man: "-kfwa",
    less: "",
    more: "",
    deno: each("fmt, lint, check, info, doc, types", "--quiet --check"),
    zip: "-rqjuXyv0123456789 --recurse-paths --quiet --junk-paths",
    tar: "-cxtruzjJvkpPhOamSwZ0123456789 -f: -C: --create --extract --get --list --append --update --file= --gzip --bzip2 --xz --zstd --verbose --directory= --strip-components= --exclude= --keep-old-files --no-same-owner --no-same-permissions --wildcards --to-stdout --auto-compress --numeric-owner --owner= --group= --mtime= --sort= --dereference --preserve-permissions --absolute-names --null --help --version",
    rsync:
      "-avzrlptgoDnPhuxSHAXcqWLkKEOJmiI --delete --delete-after --delete-excluded --exclude= --include= --progress --partial --stats --dry-run --archive --verbose --compress --recursive --checksum --human-readable --existing --update --size-only --ignore-existing --bwlimit= --timeout= --inplace --no-perms --no-owner --no-group --chmod= --itemize-changes --relative --links --times --quiet",
    scp: "-rpqCv346 -P: -i: -l: -c:",
    gcc: CC,
    cc: CC,
    "g++": CC,
    "c++": CC,
    clang: CC,
    "clang++": CC,
    git: GIT,
    npm: { ...INSTALLS, ...SCRIPTS },
    pnpm: { ...INSTALLS, ...SCRIPTS, fetch: NPM },
    yarn: { ...INSTALLS, ...SCRIPTS },
    bun: { ...INSTALLS, ...SCRIPTS },
    docker: CONTAINERS,
    podman: CONTAINERS,
    nerdctl: CONTAINERS,
    "docker-compose": each("ps, logs, top, images, ls, version", CONTAINER),
    kubectl: each(
      "get, describe, logs, top, version, explain, api-resources, api-versions, cluster-info, auth, events, delete, scale, label, annotate, rollout, wait, cordon, uncordon",
      KUBECTL,
    ),
    cargo: {
      ...each(
        "build, b, check, c, test, t, clippy, fmt, doc, tree, metadata, bench, update, fetch, clean, search, info, add, remove, version",
        CARGO,
      ),
      run: `named ${CARGO}`,
      r: `named ${CARGO}`,
    },
    go: {
      ...each("build, test, vet, fmt, list, version, doc, mod, get, install, clean", `single ${GO}`),
      env: "single -json",
    },
    pip: each("install, list, show, freeze, uninstall, check, download", PIP),
    uv: each(
      "sync, lock, add, remove, tree, version",
      "-q --frozen --locked --dev --all-extras --group= --extra= --upgrade --quiet",
    ),
    poetry: each(
      "install, add, remove, show, lock, check, build, version, update",
      "-nqv --no-interaction --quiet --no-root --sync --only= --with= --without= --dry-run --group=",
    ),
    bundle: each("install, list, check, show, info, outdated, update", "--quiet --local --jobs= --retry="),
    composer: each(
      "install, update, require, remove, show, outdated, validate, dump-autoload",
      "-nqo --no-interaction --no-dev --dev --no-scripts --no-progress --prefer-dist --optimize-autoloader --quiet",
    ),
    gem: each("list, install, uninstall, search, outdated, info, env", "-v: --no-document --version= --local --remote"),
    dotnet: each(
      "build, test, restore, clean, format, list",
      "-c: -v: --configuration= --no-build --no-restore --verbosity= --filter= --nologo",
    ),
    terraform: {
      fmt: "single -check -recursive -diff",
      validate: "single -json -no-color",
      version: "single -json",
      output: "single -json -raw -no-color",
      show: "single -json -no-color",
    },
    helm: each("list, ls, status, history, version", "-Aa -n: -o: --all-namespaces --namespace= --output= --short"),
    gh: each(
      "pr list, pr view, pr diff, pr checks, pr status, pr create, pr comment, pr merge, pr review, pr close, pr edit, pr ready, pr checkout, issue list, issue view, issue create, issue comment, issue close, issue edit, issue status, run list, run view, run watch, repo view, repo list, release list, release view, search, status, workflow list, workflow view, label list, auth status, api",
      "*",
    ),
  }),
)

/** Programs that run the files they are given, or files that stand beside those: one outside of the session's folder is named. */
export const RUNS_OPERANDS: ReadonlySet<string> = new Set(["pytest", "py.test", "eslint", "prettier", "dotnet", "go"])

/** Names that may stand before a verb and change nothing: they take no value. */
export const BEFORE_VERB: ReadonlyMap<string, ReadonlySet<string>> = new Map([["git", new Set(["--no-pager", "-P"])]])

/** Verbs that nobody listed are scripts of the project, which a pattern must name. */
export const RUNS_SCRIPTS: ReadonlySet<string> = new Set(["yarn", "pnpm", "bun"])
/** Verbs of these that are no scripts, and run what stands behind them. */
export const NO_SCRIPTS: ReadonlySet<string> = new Set(
  "exec dlx x node create init workspace workspaces foreach global config set plugin policies npm import link unlink patch env store setup pm repl eval".split(
    " ",
  ),
)

/** Options of compilers that are made of many names. What stands behind an equals sign may be a program or a file. */
export const COMPILER_OPTION =
  /^-(?:W(?![lap],)[a-z][\w+-]*(?:=\d+)?|f(?!plugin)[a-z][\w+-]*|m[a-z][\w-]*(?:=[\w-]+)?|std=[\w+]+|pedantic|pthread|shared|static|M[MDP]?|g\d?|O[0-3sgz]?)$/

const read = new Map<string, Options>()

/** The options of a list, read once. */
export function listedOptions(list: string): Options {
  let known = read.get(list)
  if (known === undefined) {
    const [, isSingle, rest = ""] = /^(?:named )?(single )?([^]*)$/.exec(list) ?? []
    known = optionsOf(rest, isSingle !== undefined)
    read.set(list, known)
  }
  return known
}
