import { toolOfReason } from '../../messages/index.ts';
import { workItems as words } from '../../text/en/work-items.ts';

/** The question to a person, in short. */
export const questionOf = (reason: string | null | undefined): string => {
  const tool = toolOfReason(reason);
  return tool === null ? (reason ?? words.noQuestion) : words.mayBeCalled(tool);
};
