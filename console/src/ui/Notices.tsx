import { common } from '../text/en/common.ts';
import { Button } from './Button.tsx';
import { Link } from './Link.tsx';
import css from './Notices.module.css';
import { dismissNotice, useNotices } from './notices.ts';

/** Place of notices. The shell has one; screen readers say what comes into it. */
export const Notices = () => (
  <div role="status" className={css.notices}>
    {useNotices().map(({ id, text, link }) => (
      <div key={id} className={css.notice}>
        <span>{text}</span>
        {link && <Link href={link.href}>{link.label}</Link>}
        <Button small kind="quiet" onClick={() => dismissNotice(id)} aria-label={common.dismiss}>
          {common.dismiss}
        </Button>
      </div>
    ))}
  </div>
);
