export { makeFirstKey } from './first-key.ts';
export { Authenticator } from './keys.ts';
export { requiredRoles, roleOf } from './permissions.ts';
export { apiKeyRoutes } from './routes.ts';
