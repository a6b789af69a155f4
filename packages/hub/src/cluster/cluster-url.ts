import { isLoopbackName } from "../auth/authority.ts"
import { HubError } from "../errors.ts"

export interface ClusterUrlOptions {
  readonly clusterUrl: string
  readonly store: string | undefined
  readonly plaintextUnderstood: boolean
}

/** The address by which other hubs reach this one, without a slash at its end. Refuses one that cannot work or shows secrets. */
export function checkClusterUrl({ clusterUrl, store, plaintextUnderstood }: ClusterUrlOptions): string {
  const url = URL.canParse(clusterUrl) ? new URL(clusterUrl) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
  if (!isPlain)
    throw new HubError(
      "start/invalid-option",
      `--cluster-url ${clusterUrl}: give scheme, host and port only, as in http://10.0.0.2:8765`,
    )
  if (store === undefined)
    throw new HubError(
      "start/invalid-option",
      "--cluster-url: hubs share a PostgreSQL database: name it with --store postgres://…, or leave --cluster-url out",
    )
  if (url.protocol === "http:" && !isLoopbackName(url.hostname) && !plaintextUnderstood)
    throw new HubError(
      "start/exposed",
      `--cluster-url ${clusterUrl} would send what hubs tell each other over the network in plain text. Give an https address (with --cluster-ca FILE if your own authority signed its certificate), or add --i-understand-plaintext`,
    )
  return url.origin
}
