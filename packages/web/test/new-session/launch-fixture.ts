import type { LaunchFields } from "../../src/new-session/launch.ts"

/** A filled-in form. */
export const fields = (change: Partial<LaunchFields> = {}): LaunchFields => ({
  agent: "claude",
  machine: "r1",
  cwd: "/srv",
  prompt: "Go",
  title: "",
  model: "",
  effort: "",
  mode: "",
  worktree: false,
  confirmation: "",
  resume: undefined,
  isFork: false,
  resumeAt: undefined,
  budget: "",
  directories: "",
  allowed: "",
  disallowed: "",
  enforce: "",
  ...change,
})
