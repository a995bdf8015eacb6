import { catalog } from '../catalog.ts';
import { duration, list, number, plural } from '../format.ts';

const attempts = { one: '# attempt', other: '# attempts' };

export const workItems = catalog({
  newWorkItem: 'New Work Item',
  unnamed: (id: string) => `Work Item ${id.slice(0, 8)}`,
  status: {
    DRAFT: 'Draft',
    PENDING: 'Pending',
    EXECUTING: 'Executing',
    NEEDS_REVIEW: 'Needs review',
    INDETERMINATE: 'Outcome unknown',
    COMPLETED: 'Completed',
    ERROR: 'Failed',
    CANCELLED: 'Cancelled',
  },

  // The header of a Work Item, a sentence for each status.
  isDraft: 'Draft:',
  isDraftMore: 'no one executes it until it is submitted.',
  pending: 'Pending.',
  executing: 'Executing',
  executingFor: 'for {time}.',
  waitsSince: 'Waits for a person since {at}:',
  unknownSince: 'Its outcome is unknown since {at}:',
  quoted: (text: string) => `“${text}”`,
  needsApproval: (tools: readonly string[]) =>
    tools.length === 1 ? `The tool ${tools[0]} needs approval.` : `The tools ${list(tools)} need approval.`,
  mayBeCalled: (tool: string) => `May ${tool} be called?`,
  noQuestion: 'It waits for a person.',
  completed: 'Completed',
  completedAt: 'in {time}, {at}.',
  completedByHand: 'by a person, {at}.',
  failed: (count: number) =>
    count === 0 ? 'Failed before its first attempt:' : `Failed after ${plural(count, attempts)}:`,
  cancelled: 'Cancelled',
  cancelledAt: '{at}.',
  waitsForStart: 'It starts {at}.',
  waitsForBudget: 'Waits for the next period of its budget, which begins {at}.',
  waitsForRetry: 'Waits for attempt {n}, which begins {at}.',
  cancelAsked: 'Cancel asked {at}; it ends within 30 s.',
  fromSchedule: 'From {schedule}, due {due}{late}; {attempt}.',
  byHand: 'From {schedule}, run by {by}; {attempt}.',
  fromApi: 'Created by {by} through the API; {attempt}.',
  fromPerson: 'Created by {by}; {attempt}.',
  late: (milliseconds: number) => `, ${duration(milliseconds)} late`,
  attemptOf: (n: number, most: number | null) =>
    n === 0
      ? 'no attempt yet'
      : most === null
        ? `attempt ${number(n)}`
        : `attempt ${number(n)} of ${number(Math.max(n, most))}`,
  someone: 'someone',
  deletedAgent: 'a deleted agent',
  deletedSchedule: 'a deleted schedule',

  // Actions.
  submit: 'Submit',
  continue: 'Continue',
  restart: 'Restart',
  cancel: 'Cancel',
  complete: 'Complete',
  done: {
    submit: 'Submitted',
    continue: 'Continued',
    restart: 'Restarted',
    cancel: 'Cancelled',
    complete: 'Completed',
  },
  cancelRequested: 'Cancel requested',
  message: 'Message',
  messageHint: 'Optional. It is added to the conversation.',
  messageDenies: (count: number) =>
    count === 1
      ? 'The call that waits is denied with it as the reason. To approve the call, close this.'
      : `The ${number(count)} calls that wait are denied with it as the reason. To approve calls, close this.`,
  submitMore: 'It becomes pending, and a worker takes it.',
  continueMore: 'The next attempt goes on in the same conversation.',
  restartMore:
    'It begins again with a new conversation. What tools did before is not undone. The old conversation stays.',
  cancelMore: 'It ends, and nothing more is done. A restart begins it again.',
  cancelRunningMore:
    'It is executing. It stops within 30 s; the call of a tool that has begun may still end.',
  completeMore: 'You declare that it is done. Its result stays as it is.',
  editDraft: 'Edit draft',
  draftSaved: 'Draft saved',
  draftName: 'Name',
  draftPayload: 'Payload',
  draftPayloadHint: 'A JSON object that the agent gets with the message.',
  draftMessageHint: 'What the agent is told to do.',
  draftStart: 'Start',
  draftStartHint: 'It waits until then, on the clock of this device. Empty: as soon as it is submitted.',
  deleteTitle: 'Delete Work Item',
  deleteMore:
    'Its messages, payload, result, history and files are gone at once and do not come back. The ledger of its schedule and the audit log keep its id.',
  deleted: 'The Work Item is deleted',
  copyCurl: 'Copy as curl',
  duplicate: 'Duplicate',
  previous: 'Previous',
  next: 'Next',

  // Tabs.
  tabs: {
    conversation: 'Conversation',
    timeline: 'Timeline',
    files: 'Files and data',
    events: 'Events',
    payload: 'Payload and result',
    traces: 'Traces',
  },
  tabsOf: 'Parts of the Work Item',

  // Facts.
  facts: {
    status: 'Status',
    agent: 'Agent',
    version: 'Version',
    source: 'Source',
    model: 'Model',
    tokens: 'Tokens',
    cost: 'Cost',
    executing: 'Executing',
    start: 'Start',
    created: 'Created',
    finished: 'Finished',
    id: 'Id',
    trace: 'Trace',
    error: 'Error',
  },
  tokens: (input: number, output: number) => `${number(input)} in, ${number(output)} out`,
  calls: (model: number, tool: number) =>
    `${plural(model, { one: '# model call', other: '# model calls' })}, ${plural(tool, { one: '# tool call', other: '# tool calls' })}`,
  executed: (milliseconds: number, count: number) =>
    `${duration(milliseconds)} in ${plural(count, attempts)}`,
  copyId: 'Copy the id',
  copyTrace: 'Copy the trace id',

  // Conversation.
  conversation: 'Conversation',
  messagesOf: 'What was said',
  conversationPart: (n: number) => `Conversation ${number(n)}`,
  earlier: 'Earlier messages',
  noMessages: 'Nothing was said yet.',
  noMessagesDraft: 'Nothing was said yet. The conversation begins when it is submitted.',
  person: 'Person',
  tools: 'Tools',
  system: 'Instructions',
  byTrigger: 'trigger',
  bySchedule: 'schedule',
  byApi: 'API',
  byPerson: 'person',

  // Timeline.
  timeline: 'Timeline',
  noSteps: 'Nothing happened yet: no attempt began.',
  attempt: (n: number) => `Attempt ${number(n)}`,
  retryWait: 'Wait before the next attempt',
  reviewWait: 'Waits for a person',
  stepTokens: (input: number, output: number) => `${number(input)} + ${number(output)} tokens`,
  took: (milliseconds: number) => duration(milliseconds),
  soFar: (milliseconds: number) => `${duration(milliseconds)} so far`,
  stepFailed: (milliseconds: number, code: string) => `${duration(milliseconds)}, ${code}`,

  // Events.
  events: 'Events',
  eventColumns: { at: 'When', event: 'What happened', by: 'By', details: 'Details' },
  actions: {
    create: 'Created',
    update: 'Changed',
    submit: 'Submitted',
    claim: 'Taken by a worker',
    finish: 'The attempt ended',
    retry: 'The attempt failed; another one follows',
    hand_back: 'Given back by its worker',
    lease_lost: 'Its worker was lost',
    late_result: 'A result came too late, and was not used',
    continue: 'Continued',
    restart: 'Restarted',
    cancel: 'Cancelled',
    complete: 'Completed by a person',
  },
  linkToEvent: 'Link to this event',
  lastAttemptFailed: 'The last attempt failed',
  decided: (decision: string, tool: string, edited: boolean, reason: string | undefined) =>
    `${decision === 'approve' ? 'approved' : 'denied'} ${tool}${edited ? ' with other arguments' : ''}${reason ? `: ${reason}` : ''}`,
  fromTo: (from: string | null, to: string) => (from === null || from === to ? to : `${from} to ${to}`),
  earlierEvents: 'Earlier events',

  // Payload and result.
  payloadTitle: 'Payload',
  resultTitle: 'Result',
  messageTitle: 'Message',
  errorTitle: 'Error',
  noMessage: 'It has no message.',
  noPayload: 'It has no payload.',
  noResult: 'There is no result yet.',
  noResultEnded: 'It has no result.',

  // Traces.
  traces: 'Traces',
  attemptColumns: {
    n: 'Attempt',
    began: 'Began',
    outcome: 'Ended',
    took: 'Took',
    usage: 'Tokens',
    replica: 'By',
    trace: 'Trace',
  },
  outcomes: {
    COMPLETED: 'Completed',
    NEEDS_REVIEW: 'Needs review',
    INDETERMINATE: 'Outcome unknown',
    ERROR: 'Failed',
    CANCELLED: 'Cancelled',
    RETRY: 'Failed, tried again',
    RELEASED: 'Given back',
    LOST: 'Worker lost',
  },
  runs: 'Executing',
  noAttempts: 'No attempt began, so there is no trace.',
  noTrace: 'no trace',
  openTrace: (where: string) => `Open in ${where}`,
  noLinks: 'No integration shows traces. With one that has an address for them, each trace has a link here.',
});
