import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import pg from 'pg';
import { type Database, sql } from '../database/index.ts';
import type { OwnDatabase } from './engines/engine.ts';

/** All loopback addresses are this machine, and an IPv4 address may be written as IPv6. */
const canonical = (address: string): string => {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return plain === '::1' || plain === '::' || plain === '0.0.0.0' || /^127\./.test(plain)
    ? 'loopback'
    : plain;
};

/** The addresses that a host of DATABASE_URL has now; none for a Unix socket, or while the name is not found. */
const addressesOf = async (host: string): Promise<string[]> => {
  if (isIP(host) !== 0) return [host];
  if (host.startsWith('/')) return [];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
};

/** The system identifier of the platform's PostgreSQL (`initdb` makes it, and standbys share it) and its database. */
const identityOf = (db: Database): Promise<{ id: string; name: string } | null> =>
  db.run(async (executor) => {
    const { rows } = await sql<{
      id: string;
      name: string;
    }>`select system_identifier::text as id, current_database()::text as name from pg_control_system()`.execute(
      executor,
    );
    return rows[0] ?? null;
  });

/**
 * Recognizes the platform's own PostgreSQL: by address, port and database before a password is sent anywhere, and by
 * the identity of the server after signing in, because a server has more names than a look-up tells (a proxy, another
 * network, a standby).
 */
export const createOwnDatabase = (db: Database, databaseUrl: string | null): OwnDatabase => {
  if (databaseUrl === null) {
    return { exists: false, isAt: async () => false, isServer: async () => false };
  }
  // Only parses the address; it is the parser that the platform's own pool uses.
  const own = new pg.Client({ connectionString: databaseUrl });
  let identity: Promise<{ id: string; name: string } | null> | undefined;
  return {
    exists: true,
    isAt: async (addresses, port, database) => {
      if (port !== own.port || database !== own.database) return false;
      const mine = new Set((await addressesOf(own.host)).map(canonical));
      return addresses.some((address) => mine.has(canonical(address)));
    },
    isServer: async (id, name) => {
      identity ??= identityOf(db).catch((error: unknown) => {
        identity = undefined;
        throw error;
      });
      const mine = await identity;
      return mine !== null && mine.id === id && mine.name === name;
    },
  };
};
