export { headerMap, headerValue } from './headers.ts';
export { deleteExpiredKeys } from './idempotency.ts';
export { describeApi } from './openapi.ts';
export { finder, listPage, offsetPageOf, pageOf } from './pages.ts';
export { permissionsOf } from './permissions.ts';
export { TokenBuckets } from './rate-limit.ts';
export type { RawRequest, RawResponse, RawRoute } from './raw.ts';
export { type Context, type Route, type RouteGroup, route } from './route.ts';
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
export { createServer, type Server, type ServerOptions } from './server.ts';
