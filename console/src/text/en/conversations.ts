import { catalog } from '../catalog.ts';
import { number, plural } from '../format.ts';

export const conversations = catalog({
  list: 'Conversations',
  untitled: 'Conversation without a name',
  started: 'Started {at} by {by}.',
  someone: 'someone',
  model: (model: string) => `The last reply is by ${model}.`,
  version: '{version} of the agent replied.',
  versionOf: (version: number) => `Version ${number(version)}`,
  states: { idle: '', running: 'Running', needs_review: 'Waits for a person' },
  newConversation: 'New conversation',
  rename: 'Rename',
  renameTitle: 'Rename conversation',
  renameHint: 'Empty: the beginning of its first message.',
  renamed: 'Conversation renamed',
  remove: 'Delete conversation',
  removeText: (messages: number) =>
    messages === 0
      ? 'It has no messages.'
      : `${plural(messages, { one: 'Its # message is', other: 'Its # messages are' })} deleted with it. This cannot be taken back.`,
  removeRunning: 'The reply that is being written is cancelled.',
  removed: 'Conversation deleted',

  messagesOf: 'Messages',
  person: 'A person',
  tools: 'Tools',
  earlier: 'Earlier messages',
  newCount: (count: number) => `${number(count)} new`,

  message: 'Message',
  ask: (agent: string) => `Ask ${agent} …`,
  submit: 'Submit',
  submitHint: 'Enter sends, Shift+Enter begins a line.',
  denies: (calls: number) =>
    plural(calls, {
      one: 'A message denies the call that waits, and is the reason that the agent is told.',
      other: 'A message denies the # calls that wait, and is the reason that the agent is told.',
    }),
  busy: 'Wait for the end of the reply, or cancel it.',
  nothingWritten: 'Write a message first.',
  cancel: 'Cancel',

  queued: (agent: string) => `${agent} begins when a worker is free.`,
  replying: (agent: string) => `${agent} is replying …`,
  waits: 'Decide about the call, and the agent goes on.',
  waitsMany: (calls: number) => `Decide about the ${number(calls)} calls, and the agent goes on.`,
  asks: (agent: string) => `${agent} asks you`,
  cancelled: 'The run was cancelled.',
  replied: (agent: string) => `${agent} replied.`,
  failed: (agent: string) => `${agent} could not reply.`,
  failedHint: {
    context_too_long: 'The conversation is too long for the model. Begin a new one.',
    model_refused: 'The LLM configuration of the agent, or the message, has to change first.',
  } as Record<string, string>,
});
