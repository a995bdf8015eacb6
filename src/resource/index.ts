export { bodyOf, defaultsOf, itemOf, namesIn, pathIn, renamedIn } from './document.ts';
export { elsewhere, Field, nullable, required, withDefault } from './field.ts';
export { Group, type Shape } from './group.ts';
export { sentMessages } from './messages.ts';
export type { Referred } from './references.ts';
export {
  type ChangesOf,
  column,
  generated,
  jsonColumn,
  type RecordOf,
  type RowOf,
  resource,
  stamps,
  type TableOf,
  times,
  type ValuesOf,
} from './resource.ts';
export { changedTls, createdTls, isHost, mergedTls, shownTls, showTls } from './tls.ts';
