export { describeDirectoryContract } from "./directory-contract.ts"
export type { DirectorySetup } from "./directory-setup.ts"
export { describeEventLogContract } from "./event-log-contract.ts"
export type { EventLogSetup } from "./event-log-setup.ts"
