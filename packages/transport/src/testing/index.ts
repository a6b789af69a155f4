export { describeTransportContract } from "./contract.ts"
export { readAll, readLines } from "./lines.ts"
export type { ContractLimits, ContractOptions, ContractPeer, ContractSetup } from "./setup.ts"
