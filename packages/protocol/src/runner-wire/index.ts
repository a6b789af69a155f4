export * from "./lines.ts"
export type * from "./messages.ts"
