import { palette as t } from '#text/palette';
import { text } from '#text/shared';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { flushSync } from 'react-dom';
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { useMe } from '../../api/me.ts';
import { SearchIcon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { useBack } from '../../ui/use-back.ts';
import { listKnown } from './known-targets.ts';
import { listPageActions } from './page-actions.ts';
import { hasSecret, readId } from './read-id.ts';
import { matches, type Target } from './target.ts';
import { useFoundId } from './use-found-id.ts';
import { useFoundThings } from './use-found-things.ts';

function describeNothing(isLookup: boolean, id: string | undefined): string {
  if (!isLookup) return t.nothing;
  return id === undefined ? t.noToken : t.noId;
}

/** Leads to any screen, action, token, member or connector by a few letters of its name, and to whatever has an id or a token. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { role } = useMe();
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const [pageActions] = useState(listPageActions);
  const known = query.trim();
  const id = readId(known);
  const isLookup = id !== undefined || hasSecret(known);
  const byId = useFoundId(id);
  const byName = useFoundThings(isLookup ? '' : known);
  const found = isLookup ? byId : byName;
  useBack(onClose);
  // What is known at once stays in its place when the rest arrives.
  const onPage = {
    id: 'page',
    label: t.page,
    targets: pageActions.filter(({ label }) => matches(known, label)),
  };
  const groups = [...(isLookup ? [] : [onPage, ...listKnown(known, role)]), ...found.groups].filter(
    ({ targets }) => targets.length > 0,
  );
  const open = ({ to, isOutside = false, run }: Target): void => {
    // The page is reached again once nothing lies over it.
    flushSync(onClose);
    run?.();
    if (to === undefined) return;
    if (isOutside) location.assign(to);
    else void navigate({ href: to });
  };
  return (
    <ModalOverlay
      className="overlay jump-overlay"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Modal className="modal">
        <Dialog className="palette" aria-label={text.jump.label}>
          {/* What is shown is filtered already. */}
          <Autocomplete inputValue={query} onInputChange={setQuery} filter={() => true}>
            <SearchField aria-label={text.jump.label} autoFocus>
              <SearchIcon />
              <Input placeholder={t.placeholder} />
            </SearchField>
            <Menu
              aria-label={t.results}
              className="options"
              items={groups}
              renderEmptyState={() => (
                <p className="nothing">{found.isLoading ? text.loading : describeNothing(isLookup, id)}</p>
              )}
            >
              {(group) => (
                <MenuSection id={group.id}>
                  <Header>{group.label}</Header>
                  <Collection items={group.targets}>
                    {(target) => (
                      <MenuItem id={target.id} textValue={target.label} onAction={() => open(target)}>
                        <target.icon />
                        <span>{target.label}</span>
                        {target.detail !== undefined && <small>{target.detail}</small>}
                      </MenuItem>
                    )}
                  </Collection>
                </MenuSection>
              )}
            </Menu>
            {found.error !== undefined && <ProblemNote error={found.error} />}
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
