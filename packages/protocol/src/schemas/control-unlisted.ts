import { z } from "zod"
import { controlRequest } from "./control-request.ts"

/**
 * Requests that 2.1.325 handles without publishing them. Reachable, never relied on: fields are declared only where
 * they were observed, everything else passes as it is.
 */

export const EndSessionRequest = controlRequest("end_session", {})
export type EndSessionRequest = z.infer<typeof EndSessionRequest>

export const SetCwdRequest = controlRequest("set_cwd", { path: z.string() })
export type SetCwdRequest = z.infer<typeof SetCwdRequest>
export const SetCwdReply = z.looseObject({
  status: z.string().optional(),
  cwd: z.string().optional(),
  changed: z.boolean().optional(),
})
export type SetCwdReply = z.infer<typeof SetCwdReply>

export const GenerateSessionTitleRequest = controlRequest("generate_session_title", {})
export type GenerateSessionTitleRequest = z.infer<typeof GenerateSessionTitleRequest>

export const SideQuestionRequest = controlRequest("side_question", {})
export type SideQuestionRequest = z.infer<typeof SideQuestionRequest>

export const GetPlanRequest = controlRequest("get_plan", {})
export type GetPlanRequest = z.infer<typeof GetPlanRequest>
export const GetPlanReply = z.looseObject({
  exists: z.boolean().optional(),
  content: z.string().nullish(),
  path: z.string().nullish(),
})
export type GetPlanReply = z.infer<typeof GetPlanReply>

export const GetStatusRequest = controlRequest("get_status", {})
export type GetStatusRequest = z.infer<typeof GetStatusRequest>
/** Written for a person: titles, labels and values are prose. */
export const GetStatusReply = z
  .looseObject({
    sections: z
      .array(
        z.looseObject({
          title: z.string().nullish(),
          rows: z.array(z.looseObject({ label: z.string().nullish(), value: z.string().nullish() })).nullish(),
        }),
      )
      .nullish(),
  })
  .nullish()
export type GetStatusReply = z.infer<typeof GetStatusReply>

export const ExportConversationRequest = controlRequest("export_conversation", {})
export type ExportConversationRequest = z.infer<typeof ExportConversationRequest>

export const ForkConversationRequest = controlRequest("fork_conversation", {})
export type ForkConversationRequest = z.infer<typeof ForkConversationRequest>

export const RewindConversationRequest = controlRequest("rewind_conversation", { target_message_uuid: z.string() })
export type RewindConversationRequest = z.infer<typeof RewindConversationRequest>

export const AddDirectoryRequest = controlRequest("add_directory", {})
export type AddDirectoryRequest = z.infer<typeof AddDirectoryRequest>

export const GetWorkspaceDiffRequest = controlRequest("get_workspace_diff", {})
export type GetWorkspaceDiffRequest = z.infer<typeof GetWorkspaceDiffRequest>
