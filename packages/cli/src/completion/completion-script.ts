import { notOneOf } from "../base/define-command.ts"

/** The shell asks `signalbox complete` each time, so that commands, options and ids are always those of now. */
const SCRIPTS = {
  bash: `# signalbox completion for bash
_signalbox() {
  local IFS=$'\\n'
  COMPREPLY=($(signalbox complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _signalbox signalbox
`,
  zsh: `#compdef signalbox
# signalbox completion for zsh
_signalbox() {
  local -a found
  found=("\${(@f)$(signalbox complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -a found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _signalbox ]]; then
  _signalbox "$@"
else
  compdef _signalbox signalbox
fi
`,
  fish: `# signalbox completion for fish
function __signalbox_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (signalbox complete -- $words[2..-1] "$current" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c signalbox -f -a '(__signalbox_complete)'
`,
} as const

export function completionScript(shell: string): string {
  const found = Object.entries(SCRIPTS).find(([name]) => name === shell)
  if (found === undefined) throw notOneOf(shell, Object.keys(SCRIPTS))
  return found[1]
}
