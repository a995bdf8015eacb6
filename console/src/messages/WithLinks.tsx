import { Link } from '../ui/index.ts';
import css from './Messages.module.css';

/** Beyond this many addresses they stay text. */
const mostLinks = 100;

const address = /https?:\/\/[^\s<>"'`\\^{}|]+[^\s<>"'`\\^{}|.,;:!?)\]]/gi;

/** Text that someone else wrote: text nodes, in which addresses on the web are links. */
export const WithLinks = ({ text }: { text: string }) => {
  const parts: { at: number; href: string }[] = [];
  for (const match of text.matchAll(address)) {
    if (parts.push({ at: match.index, href: match[0] }) > mostLinks) return text;
  }
  if (parts.length === 0) return text;
  return parts.map(({ at, href }, index) => {
    const before = text.slice(index === 0 ? 0 : parts[index - 1]!.at + parts[index - 1]!.href.length, at);
    const after = index === parts.length - 1 ? text.slice(at + href.length) : '';
    return (
      <span key={at}>
        {before}
        <Link href={href} className={css.webLink}>
          {href}
        </Link>
        {after}
      </span>
    );
  });
};
