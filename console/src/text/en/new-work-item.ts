import { catalog } from '../catalog.ts';
import { bytes } from '../format.ts';

export const newWorkItem = catalog({
  lead: 'One piece of work for an agent. A worker takes it as soon as one is free.',
  leadCopy: 'The same as {name}, once more. Change what is different.',
  agent: 'Agent',
  noAgentMatches: 'No Worker agent matches',
  noAgents: 'There is no Worker agent yet. A Work Item needs one.',
  newAgent: 'New agent',
  name: 'Name',
  nameHint: 'Optional. How it is called in lists.',
  message: 'Message',
  messageHint: 'What the agent is told to do.',
  payload: 'Payload',
  payloadHint: (size: number, most: number) =>
    `Optional. A JSON object that the agent gets with the message: ${bytes(size)} of at most ${bytes(most)}.`,
  payloadTooLarge: (size: number, most: number) =>
    `It has ${bytes(size)}; at most ${bytes(most)} are allowed.`,
  notObject: 'Write a JSON object: {"key": "value"}.',
  start: 'Start',
  startHint: 'Optional. It waits until then, on the clock of this device; at most a year ahead.',
  create: 'Create Work Item',
  createDraft: 'Create draft',
  createDraftHint: 'A draft waits until someone submits it.',
  chooseAgent: 'Choose an agent.',
  created: 'Work Item created',
});
