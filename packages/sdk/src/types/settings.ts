import type { EffortLevel } from "./options.ts"
import type { PermissionMode } from "./permissions.ts"

/** The contents of a settings file. The CLI knows more names than these; they pass as they are. */
export interface Settings {
  model?: string
  fallbackModel?: string[]
  availableModels?: string[]
  effortLevel?: Exclude<EffortLevel, "max">
  alwaysThinkingEnabled?: boolean
  env?: Record<string, string>
  apiKeyHelper?: string
  permissions?: PermissionSettings
  sandbox?: SandboxSettings
  disableAllHooks?: boolean
  outputStyle?: string
  language?: string
  cleanupPeriodDays?: number
  includeCoAuthoredBy?: boolean
  respectGitignore?: boolean
  enableAllProjectMcpServers?: boolean
  enabledMcpjsonServers?: string[]
  disabledMcpjsonServers?: string[]
  [name: string]: unknown
}

/** Settings for a running agent; `null` takes one back. */
export type FlagSettings = { [K in keyof Settings]?: K extends "effortLevel" ? EffortLevel | null : Settings[K] | null }

interface PermissionSettings {
  allow?: string[]
  deny?: string[]
  ask?: string[]
  defaultMode?: PermissionMode
  additionalDirectories?: string[]
  disableBypassPermissionsMode?: "disable"
  [name: string]: unknown
}

export interface SandboxSettings {
  enabled?: boolean
  failIfUnavailable?: boolean
  autoAllowBashIfSandboxed?: boolean
  allowUnsandboxedCommands?: boolean
  network?: SandboxNetworkConfig
  filesystem?: SandboxFilesystemConfig
  credentials?: SandboxCredentialsConfig
  ignoreViolations?: SandboxIgnoreViolations
  enableWeakerNestedSandbox?: boolean
  enableWeakerNetworkIsolation?: boolean
  allowNestedUserNamespaces?: boolean
  allowAppleEvents?: boolean
  excludedCommands?: string[]
  ripgrep?: { command: string; args?: string[] }
  bwrapPath?: string
  socatPath?: string
  [name: string]: unknown
}

export type SandboxIgnoreViolations = Record<string, string[]>

export interface SandboxNetworkConfig {
  allowedDomains?: string[]
  deniedDomains?: string[]
  strictAllowlist?: boolean
  allowManagedDomainsOnly?: boolean
  allowUnixSockets?: string[]
  allowAllUnixSockets?: boolean
  allowLocalBinding?: boolean
  allowMachLookup?: string[]
  httpProxyPort?: number
  socksProxyPort?: number
  tlsTerminate?: { caCertPath?: string; caKeyPath?: string }
}

export interface SandboxFilesystemConfig {
  allowWrite?: string[]
  denyWrite?: string[]
  allowRead?: string[]
  denyRead?: string[]
  allowManagedReadPathsOnly?: boolean
  disabled?: boolean
}

/** How a secret is kept from what runs inside. */
interface Concealment {
  mode: "deny" | "mask"
  extract?: string
  onExtractNoMatch?: "deny" | "error" | "warn"
  decode?: "jwt"
  maskClaims?: string[]
  injectHosts?: string[]
}
type SignedRequests = "streaming" | "presigned" | "sigv4a"

export interface SandboxCredentialsConfig {
  files?: (Concealment & { path: string; maskDuplicates?: boolean })[]
  envVars?: (Concealment & { name: string })[]
  allowPlaintextInject?: boolean
  awsPairs?: { accessKeyIdVar: string; secretAccessKeyVar: string; sessionTokenVar?: string }[]
  sigv4?: { [Kind in SignedRequests]?: "deny" | "passthrough" }
}
