import { curlOf } from '../ui/index.ts';

/**
 * The commands that make a first data connection, in the folder of the platform: the shop of docs/data.md, which is a
 * file, and the connection that reads it. A connection to a database that is not there is refused.
 */
export const dataConnectionExample = (base: string): string =>
  `npm run example:shop\n${curlOf(base, 'createDataConnection', {}, { body: { name: 'Shop', engine: 'sqlite', configuration: { path: 'shop.db' } } })}`;
