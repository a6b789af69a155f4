import { accessRoutes, operationsRoutes } from "./access.ts"
import { askRoutes } from "./ask.ts"
import { backtestRoutes } from "./backtest.ts"
import { eventRoutes } from "./event.ts"
import { hubRoutes } from "./hub.ts"
import { messageRoutes } from "./message.ts"
import { policyRoutes } from "./policy.ts"
import { retentionRoutes } from "./retention.ts"
import type { RouteTable } from "./route-table.ts"
import { runRoutes } from "./run.ts"
import { runnerRoutes } from "./runner.ts"
import { sessionRoutes } from "./session.ts"

export { ErrorBody } from "./fields.ts"
export { LARGE_BODY_BYTES, SMALL_BODY_BYTES } from "./route-table.ts"

/** Every route of the hub's interface for people and programs. */
export const ROUTES = {
  ...sessionRoutes,
  ...retentionRoutes,
  ...messageRoutes,
  ...eventRoutes,
  ...askRoutes,
  ...policyRoutes,
  ...backtestRoutes,
  ...runnerRoutes,
  ...runRoutes,
  ...hubRoutes,
  ...accessRoutes,
  ...operationsRoutes,
} as const satisfies RouteTable
