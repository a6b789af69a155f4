/** Tells people who write a policy what it can judge and what never reaches it. */
export interface PolicySees {
  readonly judged: string
  readonly notJudged: readonly string[]
}

export const POLICY_SEES: PolicySees = {
  judged:
    "Only what an agent asks about: a tool call for which Claude Code sends a permission request (can_use_tool), an elicitation, a dialog.",
  notJudged: [
    "Tools that Claude Code runs without asking: Read, Glob and Grep in the session's folder, and shell commands that only read, such as cat and ls. A deny rule does not keep a file from being read.",
    "Tools that Claude Code's own settings, allowedTools or an earlier 'always allow' on that machine permit.",
    "Edits in mode acceptEdits, and all tools in the modes auto and bypassPermissions.",
    "What a permitted program does: the files it opens and the programs it starts.",
  ],
}
