import type { ShapeOutput, ZodRawShapeCompat } from "@modelcontextprotocol/sdk/server/zod-compat.js"
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js"

// Only types come from the protocol's library here: a program that never makes a server never loads it.

/** What a tool takes, field by field, as schemas of zod 4 or 3. */
export type AnyZodRawShape = ZodRawShapeCompat
export type InferShape<Shape extends AnyZodRawShape> = ShapeOutput<Shape>

/** A tool of a server in this process. */
export interface SdkMcpToolDefinition<Shape extends AnyZodRawShape = AnyZodRawShape> {
  name: string
  description: string
  inputSchema: Shape
  // A method, so that tools of different shapes go into one list: each is called with arguments of its own shape only.
  handler(args: InferShape<Shape>, extra: unknown): Promise<CallToolResult>
  annotations?: ToolAnnotations | undefined
  _meta?: Record<string, unknown> | undefined
}

export interface ToolExtras {
  annotations?: ToolAnnotations
  /** Words that the agent finds the tool by while its description is not loaded. */
  searchHint?: string
  /** Keeps the tool's description loaded, where the agent would look it up only when needed. */
  alwaysLoad?: boolean
}

/** The names under which the CLI looks for them in a tool's `_meta`. */
export const ALWAYS_LOAD = "anthropic/alwaysLoad"
const SEARCH_HINT = "anthropic/searchHint"

export function tool<Shape extends AnyZodRawShape>(
  name: string,
  description: string,
  inputSchema: Shape,
  handler: (args: InferShape<Shape>, extra: unknown) => Promise<CallToolResult>,
  extras?: ToolExtras,
): SdkMcpToolDefinition<Shape> {
  const meta = {
    ...(extras?.searchHint ? { [SEARCH_HINT]: extras.searchHint } : {}),
    ...(extras?.alwaysLoad ? { [ALWAYS_LOAD]: true } : {}),
  }
  const hasMeta = Object.keys(meta).length > 0
  return {
    name,
    description,
    inputSchema,
    handler,
    annotations: extras?.annotations,
    _meta: hasMeta ? meta : undefined,
  }
}
