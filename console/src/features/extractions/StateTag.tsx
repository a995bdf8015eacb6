import type { ExtractionSummary } from '../../api/types.gen.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { OutcomeTag } from '../../ui/index.ts';

const kinds = { PENDING: 'due', RUNNING: 'due', COMPLETED: 'on-time', ERROR: 'missing' } as const;

/** State of an extraction. Data that are not as the schema asks are something to look at. */
export const StateTag = ({ extraction }: { extraction: Pick<ExtractionSummary, 'status' | 'valid'> }) => {
  const { status, valid } = extraction;
  if (status === 'COMPLETED' && valid === false)
    return <OutcomeTag kind="late">{words.incomplete}</OutcomeTag>;
  return <OutcomeTag kind={kinds[status]}>{words.states[status]}</OutcomeTag>;
};
