import { z } from "zod"

const fields = {
  operatorsMayUseAuto: z.boolean().meta({
    description: "Operators may choose the permission mode `auto`, in which nobody is asked. Default: false.",
  }),
}

export const Settings = z.object(fields).meta({ id: "Settings" })
export const SettingsBody = z
  .strictObject({ operatorsMayUseAuto: fields.operatorsMayUseAuto.exactOptional() })
  .meta({ id: "NewSettings", description: "What is left out has its default." })
