import { triggers as words } from '../../../text/en/triggers.ts';
import { outcomes } from '../search.ts';

export const outcomeOptions = outcomes.map((value) => ({ value, label: words.outcomes[value] }));
