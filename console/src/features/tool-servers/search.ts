import { oneOf, searchSchema, text } from '../../routing/search.ts';

export const toolServersSearch = searchSchema({ q: text, next: text });

export const toolServerTabs = ['tools', 'settings'] as const;
/** `tool` is the tool that is open, by the server's own name for it. */
export const toolServerSearch = searchSchema({
  tab: oneOf(toolServerTabs),
  q: text,
  state: text,
  tool: text,
});
