import type { Feature, Services } from '../feature.ts';
import { inputColumn, sealInputsWith } from './store.ts';

export { checkAnswers } from './forms.ts';
export { type InputRequest, readRequest, readRequests } from './requests.ts';
export {
  type AskedInput,
  type GivenInput,
  givenInput,
  type InputAnswer,
  type InputState,
  isAnswered,
  isSameRequest,
  refusalOf,
} from './state.ts';
export { inputCalls } from './store.ts';

/** Input that tools ask people for while they are called. */
export const createToolInputs = ({ vault }: Pick<Services, 'vault'>): Feature => ({
  secrets: [inputColumn],
  start: async () => sealInputsWith(vault),
});
