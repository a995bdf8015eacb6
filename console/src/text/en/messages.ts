import { catalog } from '../catalog.ts';
import { bytes } from '../format.ts';

/** Words for what agents, people and tools say. */
export const messages = catalog({
  linkToMessage: 'Link to this message',
  empty: 'No text',
  formatted: 'Formatted',
  instructions: 'Instructions',
  payload: 'Payload',
  waitsForApproval: 'Waits for approval',
  outcomeUnknown: 'Outcome unknown',
  running: 'Running',
  failed: 'Failed',
  noResult: 'No result',
  arguments: 'Arguments',
  executedArguments: 'Arguments that a person gave instead',
  result: 'Result',
  copyOf: (what: string) => `Copy ${what.toLowerCase()}`,
  approve: 'Approve',
  deny: 'Deny',
  denyMore: (tool: string) => `${tool} is not called. The agent is told so, and goes on.`,
  denyHint: 'The agent is told it.',
  editArguments: 'Edit arguments',
  editMore: (tool: string) =>
    `${tool} is called with what you write here. The agent is told that you changed it.`,
  notObject: 'Write a JSON object: {"key": "value"}.',
  unknownMore:
    'Approve makes the call again. Deny tells the agent not to repeat it. Continue without a decision lets it find out.',
  change: 'Change',
  decidedApprove: 'Will be approved',
  decidedEdited: 'Will be approved with other arguments',
  decidedDeny: 'Will be denied',
  send: 'Send decisions',
  decideAll: (missing: number) => `Decide about each call first: ${missing} left.`,
  decidedCount: (decided: number, all: number) => `${decided} of ${all} decided`,
  showAll: (length: number) => `Show all ${bytes(length)}`,
  showLess: 'Show less',
  cut: (shown: number, all: number) => `The first ${bytes(shown)} of ${bytes(all)}.`,
  downloadAll: 'Download',
});
