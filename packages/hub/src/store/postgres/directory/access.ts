import type { Grant } from "@signalbox/protocol/hub-api"
import type { TokenRecord } from "../../../model/access.ts"
import type { GrantFilter } from "../../directory/grants.ts"
import { MAX_LISTED } from "../../directory.ts"
import { type Reader, type SqlRow, type SqlValue, type Statement, storedOrNull } from "../statement.ts"
import { fromStored, toStored } from "../stored-text.js"

const ADD_TOKEN = `
  INSERT INTO tokens (id, hash, session, role, expires_at, revoked_at, body) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (id) DO NOTHING`
const REVOKE_TOKEN = "UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL"
const IS_USABLE = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)"
/** Two parts: the first has an index of its own, without agents'. */
const USABLE_TOKENS = `
  SELECT body, revoked_at, number FROM tokens WHERE ${IS_USABLE} AND role <> 'agent'
  UNION ALL SELECT body, revoked_at, number FROM tokens WHERE ${IS_USABLE} AND role = 'agent' AND id = ANY($2::text[])
  ORDER BY number`

const ADD_GRANT = `
  INSERT INTO grants (id, session, place, revoked_at, revoked_by, body) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO NOTHING`
/** As it is afterwards; one that was revoked before keeps who did it first. */
const REVOKE_GRANT = `
  WITH revoked AS (
    UPDATE grants SET revoked_at = $2, revoked_by = $3 WHERE id = $1 AND revoked_at IS NULL
    RETURNING body, revoked_at, revoked_by
  )
  SELECT body, revoked_at, revoked_by FROM revoked
  UNION ALL SELECT body, revoked_at, revoked_by FROM grants WHERE id = $1 AND revoked_at IS NOT NULL`

/** Tokens and grants. When and by whom they were revoked is in columns of its own, whatever their JSON says. */
export class AccessTables {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  addToken(token: TokenRecord): Statement {
    const { id, hash, sessionId, role, revokedAt } = token
    // One moment can be written in several ways, and times are compared as text.
    const expiresAt = token.expiresAt === null ? null : new Date(token.expiresAt).toISOString()
    const keys = [toStored(id), toStored(hash), storedOrNull(sessionId), role]
    return { text: ADD_TOKEN, values: [...keys, expiresAt, revokedAt, JSON.stringify(token)] }
  }

  revokeToken(id: string, at: string): Statement {
    return { text: REVOKE_TOKEN, values: [toStored(id), toStored(at)] }
  }

  async token(by: "id" | "hash", key: string): Promise<TokenRecord | undefined> {
    const row = await this.#reader.get(`SELECT body, revoked_at FROM tokens WHERE ${by} = $1`, [toStored(key)])
    return row && toToken(row)
  }

  async tokens({ session, limit }: { session?: string; limit: number }): Promise<readonly TokenRecord[]> {
    const values: SqlValue[] = [Math.max(0, limit)]
    const where = session === undefined ? "" : `WHERE session = $${values.push(toStored(session))}`
    const sql = `SELECT body, revoked_at FROM tokens ${where} ORDER BY number DESC LIMIT $1`
    const rows = await this.#reader.all(sql, values)
    return rows.map(toToken).toReversed()
  }

  async usableTokens(at: string, agents: readonly string[]): Promise<readonly TokenRecord[]> {
    return (await this.#reader.all(USABLE_TOKENS, [toStored(at), agents.map(toStored)])).map(toToken)
  }

  addGrant(grant: Grant): Statement {
    const { id, sessionId, where, revokedAt, revokedBy } = grant
    const about = [toStored(id), toStored(sessionId), toStored(where), revokedAt, storedOrNull(revokedBy)]
    return { text: ADD_GRANT, values: [...about, JSON.stringify(grant)] }
  }

  revokeGrant(id: string, at: string, by: string): Statement {
    return { text: REVOKE_GRANT, values: [toStored(id), toStored(at), toStored(by)] }
  }

  async grants({ id, session, all }: GrantFilter): Promise<readonly Grant[]> {
    const conditions = all === true ? [] : ["revoked_at IS NULL"]
    const values: SqlValue[] = []
    if (id !== undefined) conditions.push(`id = $${values.push(toStored(id))}`)
    if (session !== undefined) conditions.push(`session = $${values.push(toStored(session))}`)
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
    const sql = `SELECT body, revoked_at, revoked_by FROM grants ${where} ORDER BY number LIMIT ${MAX_LISTED}`
    return (await this.#reader.all(sql, values)).map(toGrant)
  }
}

function textOrNull(stored: SqlRow[number] | undefined): string | null {
  return stored == null ? null : fromStored(String(stored))
}

function toToken([body, revokedAt]: SqlRow): TokenRecord {
  return { ...JSON.parse(String(body)), revokedAt: textOrNull(revokedAt) }
}

export function toGrant([body, revokedAt, revokedBy]: SqlRow): Grant {
  return { ...JSON.parse(String(body)), revokedAt: textOrNull(revokedAt), revokedBy: textOrNull(revokedBy) }
}
