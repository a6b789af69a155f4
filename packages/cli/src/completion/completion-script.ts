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
} as const

export function completionScript(shell: keyof typeof SCRIPTS): string {
  return SCRIPTS[shell]
}
