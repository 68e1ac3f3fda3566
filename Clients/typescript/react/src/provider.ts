import { schedule } from "@tideover/client";
import type { CustomerSession } from "@tideover/client";
import { createContext, createElement, useContext, useEffect } from "react";
import type { ReactElement, ReactNode } from "react";
import { onForeground } from "./foreground.js";
import type { AppStateLike } from "./foreground.js";

const SessionContext = createContext<CustomerSession | undefined>(undefined);

export interface TideoverProviderProps {
  /** Make it once for each customer, outside of components or in `useMemo` by the customer's id. */
  session: CustomerSession;
  /** React Native's `AppState`; in a browser the page's own events are used. */
  appState?: AppStateLike;
  children?: ReactNode;
}

/**
 * How soon the server is asked again when it could not be reached, in milliseconds; then after twice
 * as long each time.
 */
const firstPause = 30_000;
const longestPause = 600_000;
/**
 * How long after a request the next one follows on a screen that stays open, in milliseconds: an
 * answer counts for a day.
 */
const longestWait = 12 * 3_600_000;

/** Gives a session to the hooks below it, and refreshes it when that can bring something new. */
export function TideoverProvider({ session, appState, children }: TideoverProviderProps): ReactElement {
  useEffect(() => keepFresh(session, appState), [session, appState]);
  return createElement(SessionContext.Provider, { value: session }, children);
}

/** The session of the nearest provider. */
export function useSession(): CustomerSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error("There is no TideoverProvider above this component.");
  return session;
}

/** Refreshes now, in the foreground, when an answer changes by itself, ages, and after a failure. */
function keepFresh(session: CustomerSession, appState?: AppStateLike): () => void {
  let cancelTimer = () => {};
  let cancelNext = () => {};
  let pause = firstPause;
  const ask = () => {
    cancelNext();
    cancelNext = schedule(refresh, longestWait);
    void session.refresh();
  };
  const refresh = () => {
    ask();
    session.touch();
  };
  const retry = () => {
    pause = Math.min(longestPause, pause * 2);
    refresh();
  };
  const plan = () => {
    cancelTimer();
    const wait = session.untilNextChange;
    if (!session.isUnanswered) pause = firstPause;
    else if (wait === undefined || pause <= wait) {
      cancelTimer = schedule(retry, pause);
      return;
    }
    cancelTimer = wait === undefined ? () => {} : schedule(refresh, wait);
  };
  const unsubscribe = session.subscribe(plan);
  const cancelForeground = onForeground(() => {
    pause = firstPause;
    refresh();
  }, appState);
  ask();
  return () => {
    cancelTimer();
    cancelNext();
    unsubscribe();
    cancelForeground();
  };
}
