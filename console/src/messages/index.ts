export { ApprovalButtons, SendDecisions } from './Approval.tsx';
export { type Deciding, useDecisions } from './decisions.ts';
export { FormatButton, looksFormatted, useFormatting } from './formatting.tsx';
export { LongText } from './LongText.tsx';
export { anchorOf, Messages } from './Messages.tsx';
export { decidable } from './pair.ts';
export type { PendingApproval, ShownMessage, ToolResultPart } from './types.ts';
export { useMessagePages } from './use-pages.ts';
export { prettyJson, summaryOf, toolOfReason } from './values.ts';
