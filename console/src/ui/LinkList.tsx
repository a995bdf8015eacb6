import { Link } from './Link.tsx';
import css from './LinkList.module.css';

/** Links below each other: the agents that use something. `more` is said after the last one. */
export const LinkList = ({
  links,
  more,
}: {
  links: readonly { href: string; label: string }[];
  more?: string | null;
}) => (
  <ul className={css.list}>
    {links.map(({ href, label }) => (
      <li key={href}>
        <Link href={href}>{label}</Link>
      </li>
    ))}
    {more && <li className={css.more}>{more}</li>}
  </ul>
);
