import type { Tool } from '../../api/types.gen.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import type { Difference, Outcome } from '../../ui/index.ts';

export const stateKinds = {
  accepted: 'on-time',
  new: 'late',
  changed: 'late',
  missing: 'skipped',
} as const satisfies Record<Tool['state'], Outcome>;

/** Says that agents do not get the tool until someone accepts it. */
export const waits = ({ state }: Tool): boolean => state === 'new' || state === 'changed';

/** Says that only the address of its server changed since the tool was accepted. */
export const saysTheSame = ({ state, accepted_hash, definition_hash }: Tool): boolean =>
  state === 'changed' && accepted_hash === definition_hash;

const orders = { new: 0, changed: 0, accepted: 1, missing: 2 } as const;

/** Those that wait for a person first, and otherwise as the API sorts them: by name. */
export const sortTools = (tools: readonly Tool[]): Tool[] =>
  [...tools].sort((one, other) => orders[one.state] - orders[other.state]);

const parts = ['title', 'description', 'input_schema', 'output_schema', 'annotations'] as const;

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
};

/** Definition of a changed tool when it was accepted, and now. */
export const changesOf = (tool: Tool): Difference[] =>
  parts.map((part) => ({
    label: words.parts[part],
    theirs: textOf(tool[part]),
    mine: textOf(tool.pending?.[part]),
  }));
