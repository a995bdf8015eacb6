export { headerMap, headerValue } from './headers.ts';
export { deleteExpiredKeys } from './idempotency.ts';
export { offsetPageOf, pageOf, readCursor, toPage } from './pages.ts';
export { TokenBuckets } from './rate-limit.ts';
export type { RawRequest, RawResponse, RawRoute } from './raw.ts';
export { type Context, type Route, route } from './route.ts';
export {
  id,
  idList,
  jsonObject,
  jsonValue,
  offsetQuery,
  optional,
  pageOrOffsetQuery,
  pageQuery,
  text,
  timestamp,
} from './schemas.ts';
export { createServer, type Server } from './server.ts';
