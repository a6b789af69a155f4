export type { PageSession } from "./page.ts"
export { transcriptPage } from "./transcript-page.ts"
