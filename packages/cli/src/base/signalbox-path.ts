import { fileURLToPath } from "node:url"

/** This command, for processes of our own. */
export const SIGNALBOX: string = fileURLToPath(new URL("../../bin/signalbox.mjs", import.meta.url))
