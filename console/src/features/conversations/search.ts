import { oneOf, searchSchema } from '../../app/search.ts';
import { filesReaders } from '../../files/search.ts';

export const conversationSearch = searchSchema({ tab: oneOf(['files']), ...filesReaders });
