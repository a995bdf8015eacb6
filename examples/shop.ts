import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Makes a SQLite shop: four customers in two countries, and an order every third day of 2026 whose amounts follow a pattern. */
export const makeShop = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  const shop = new DatabaseSync(path);
  shop.exec(`
    create table customers (id integer primary key, name text not null, country text not null);
    create table orders (
      id integer primary key,
      customer_id integer not null references customers (id),
      ordered_on date not null,
      amount decimal(10, 2) not null
    );
    insert into customers values (1, 'Ada', 'DE'), (2, 'Ben', 'DE'), (3, 'Siv', 'SE'), (4, 'Ove', 'SE');
    with recursive days (n) as (select 0 union all select n + 1 from days where n < 120)
      insert into orders
        select n + 1, n % 4 + 1, date('2026-01-01', (n * 3) || ' days'), 20 + (n * 37 % 90) + n % 4 * 0.25 from days;
  `);
  shop.close();
};

if (import.meta.main) {
  const [path] = process.argv.slice(2);
  if (!path)
    throw new Error('give the path of the file to make: node examples/shop.ts data/databases/shop.db');
  makeShop(path);
}
