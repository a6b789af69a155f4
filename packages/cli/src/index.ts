export { type CommandContext, main } from "./main.ts"
