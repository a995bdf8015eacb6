import { filesReaders } from '../../files/search.ts';
import { oneOf, searchSchema } from '../../routing/search.ts';

export const conversationSearch = searchSchema({ tab: oneOf(['files']), ...filesReaders });
