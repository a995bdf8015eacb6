export { newKeyValue } from './key-format.ts';
export { Authenticator } from './keys.ts';
export { requiredRoles, roleOf } from './permissions.ts';
export { apiKeyRoutes } from './routes.ts';
