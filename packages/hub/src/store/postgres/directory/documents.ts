import { NO_CHANGES } from "../../directory/policies.ts"
import {
  type KeptPolicy,
  MAX_LISTED,
  type NewAuditRecord,
  type NewPolicy,
  type PolicyFilter,
  type PolicyRow,
} from "../../directory.ts"
import type { Reader, SqlRow, Statement } from "../statement.ts"
import { toStored } from "../stored-text.js"
import { auditValues, insertAudit } from "./audit.ts"

/** Only if nobody else took the number; the record only with it. */
const ADD = `
  WITH kept AS (
    INSERT INTO policies (version, about, policy) VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING RETURNING version
  )
  ${insertAudit(4)} FROM kept`
const PUT_DOCUMENT = `
  INSERT INTO documents (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
/** Only while it is as it was read. */
const CHANGE_DOCUMENT = `${PUT_DOCUMENT} WHERE documents.value = $3`

/** Policies, and small named documents. */
export class DocumentTables {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  async nextVersion(): Promise<number> {
    const row = await this.#reader.get("SELECT coalesce(max(version), 0) + 1 FROM policies", [])
    return Number(row?.[0])
  }

  /** Changes no row when the number is taken. */
  addPolicy(version: number, about: NewPolicy, policy: string, audit: NewAuditRecord): Statement {
    return { text: ADD, values: [version, JSON.stringify(about), policy, ...auditValues(audit)] }
  }

  async policy(version: number | undefined): Promise<KeptPolicy | undefined> {
    const sql = "SELECT version, about, policy FROM policies"
    const row = await (version === undefined
      ? this.#reader.get(`${sql} ORDER BY version DESC LIMIT 1`, [])
      : this.#reader.get(`${sql} WHERE version = $1::bigint`, [version]))
    return row && { ...toRow(row), policy: JSON.parse(String(row[2])) }
  }

  async policies({ before = Number.MAX_SAFE_INTEGER, limit }: PolicyFilter): Promise<readonly PolicyRow[]> {
    const sql = "SELECT version, about FROM policies WHERE version < $1::bigint ORDER BY version DESC LIMIT $2"
    return (await this.#reader.all(sql, [before, Math.max(0, Math.min(limit, MAX_LISTED))])).map(toRow)
  }

  /** Its JSON. */
  async document(name: string): Promise<string | undefined> {
    const row = await this.#reader.get("SELECT value FROM documents WHERE name = $1", [toStored(name)])
    return row && String(row[0])
  }

  putDocument(name: string, json: string): Statement {
    return { text: PUT_DOCUMENT, values: [toStored(name), json] }
  }

  /** Changes no row if it is another one by now. */
  changeDocument(name: string, from: string | undefined, to: string): Statement {
    return { text: CHANGE_DOCUMENT, values: [toStored(name), to, from ?? null] }
  }
}

/** Versions of older hubs do not say what they changed. */
function toRow([version, about]: SqlRow): PolicyRow {
  return { version: Number(version), changes: NO_CHANGES, ...JSON.parse(String(about)) }
}
