export { type ContractPeer, type ContractSetup, describeTransportContract } from "./contract.ts"
