import { version } from "../../package.json"

/** Every room has one version: the cockpit's is that of the hub that serves it. */
export const OWN_VERSION: string = version
