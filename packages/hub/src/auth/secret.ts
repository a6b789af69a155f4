import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** Recognisable wherever one turns up by mistake: the log's redaction and secret scanners look for the prefix. */
export type SecretKind = "token" | "login" | "code"

const PREFIX: Readonly<Record<SecretKind, string>> = { token: "sbx_", login: "sbl_", code: "sbc_" }

export const SECRET_PATTERN = /\bsb[xlc]_[\w-]{16,}/g

/** 256 random bits. */
export function mintSecret(kind: SecretKind): string {
  return PREFIX[kind] + randomBytes(32).toString("base64url")
}

/** No salt and no stretching: what is hashed has 256 random bits, so there is nothing to guess. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}

export function isSameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left, "hex"), Buffer.from(right, "hex")]
  return a.length === b.length && timingSafeEqual(a, b)
}
