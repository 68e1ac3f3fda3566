import { TideoverError } from "./errors.js";
import { schedule } from "./platform.js";
import type { CustomerSession } from "./session.js";
import type { Reconciled } from "./types.js";

/** A purchase object as react-native-iap 14 and expo-iap have it (OpenIAP). */
export interface StorePurchase {
  productId: string;
  purchaseState?: string | null;
  purchaseToken?: string | null;
  isAcknowledgedAndroid?: boolean | null;
}

/** The functions of react-native-iap 14 or expo-iap that are used: give the module itself. */
export interface PurchaseLibrary<Purchase extends StorePurchase> {
  getAvailablePurchases(options?: any): Promise<Purchase[]>;
  finishTransaction(what: { purchase: Purchase; isConsumable?: boolean }): Promise<unknown>;
  purchaseUpdatedListener(listener: (purchase: Purchase) => void): { remove(): void };
}

export interface PurchaseOptions<Purchase extends StorePurchase> {
  /** Whether a purchase is used up, so that it can be bought again: never unless given. */
  isConsumable?: (purchase: Purchase) => boolean;
  /** Receives what became of each purchase, refused ones too. */
  onReconciled?: (answer: Reconciled, purchases: readonly Purchase[]) => void;
  /** Receives why the store could not be read, or purchases presented or finished; it is tried again. */
  onError?: (error: unknown) => void;
}

const firstPause = 15_000;
const longestPause = 600_000;

/**
 * Presents a store's purchases to the server, and finishes each only once the server has it.
 *
 * A purchase that is not finished is handed over by the store again at the next start: whenever the
 * app is ended, nothing is lost. What the server refuses is never finished. It stops when its
 * session ends.
 */
export class PurchaseSync<Purchase extends StorePurchase> {
  private waiting: Purchase[] = [];
  private flushing: Promise<void> | undefined;
  private pause = firstPause;
  private cancelRetry: (() => void) | undefined;
  private subscription: { remove(): void } | undefined;
  private isStopped = false;
  /** Whether the store was not read to the end: the server does not know yet what it has. */
  private isUnread = false;

  constructor(
    private readonly session: CustomerSession,
    private readonly library: PurchaseLibrary<Purchase>,
    private readonly options: PurchaseOptions<Purchase> = {},
  ) {}

  /** Listens for purchases and presents what the store has in hand already. */
  start(): Promise<void> {
    this.isStopped = false;
    this.subscription ??= this.library.purchaseUpdatedListener((purchase) => {
      this.add([purchase]);
      void this.flush();
    });
    return this.restore();
  }

  /** Presents nothing more, not even what could not be presented: the store has it still. */
  stop(): void {
    this.isStopped = true;
    this.subscription?.remove();
    this.subscription = undefined;
    this.waiting = [];
    this.isUnread = false;
    this.cancelRetry?.();
  }

  /**
   * Presents everything that the store has in hand; for a button "Restore purchases" too. If the store
   * cannot be read, or the server not be reached about an empty one, it is tried again: the server
   * answers `unknown` about a customer until it knows what the store has.
   */
  async restore(): Promise<void> {
    try {
      const purchases = await this.library.getAvailablePurchases();
      if (this.isStopped) return;
      if (purchases.length + this.waiting.length === 0) await this.session.reconcile({ nothing: true });
      this.add(purchases);
      if (this.isUnread) this.pause = firstPause;
      this.isUnread = false;
    } catch (error) {
      if (isSignedOut(error)) return this.stop();
      this.isUnread = !this.isStopped;
      this.options.onError?.(error);
    }
    await this.flush();
  }

  /** Presents what waits. It never rejects: `onError` has the reason, and it is tried again. */
  flush(): Promise<void> {
    this.flushing ??= this.present().finally(() => (this.flushing = undefined));
    return this.flushing;
  }

  /** Adds those that do not wait yet: a restore finds the ones that the listener received. */
  private add(purchases: readonly Purchase[]): void {
    if (this.isStopped) return;
    for (const purchase of purchases) {
      const { productId, purchaseToken } = purchase;
      const isSame = (it: Purchase) => it === purchase
        || (purchaseToken != null && it.purchaseToken === purchaseToken && it.productId === productId);
      if (!this.waiting.some(isSame)) this.waiting.push(purchase);
    }
  }

  private async present(): Promise<void> {
    this.cancelRetry?.();
    while (this.waiting.length > 0 && !this.isStopped) {
      const purchases = this.waiting;
      this.waiting = [];
      try {
        const answer = await this.session.reconcile(purchases);
        this.pause = firstPause;
        this.report(answer, purchases);
        await this.finish(answer, purchases);
        if (this.waiting.some((purchase) => purchases.includes(purchase))) return this.retryLater();
      } catch (error) {
        if (isSignedOut(error)) return this.stop();
        const newer = this.waiting;
        this.waiting = this.isStopped ? [] : [...purchases];
        this.add(newer);
        this.options.onError?.(error);
        return this.retryLater();
      }
    }
    if (this.isUnread) this.retryLater();
  }

  /** A mistake in the app's function must not keep a purchase from being finished. */
  private report(answer: Reconciled, purchases: readonly Purchase[]): void {
    try {
      this.options.onReconciled?.(answer, purchases);
    } catch (error) {
      this.options.onError?.(error);
    }
  }

  private async finish(answer: Reconciled, purchases: readonly Purchase[]): Promise<void> {
    for (const { kind, index, verdict } of answer.items) {
      const purchase = kind === "purchase" ? purchases[index] : undefined;
      if (!purchase) continue;
      // The store could not be asked, or the server could not store it.
      if (verdict === "unasked" || verdict === "failed") this.add([purchase]);
      if (verdict === "accepted" && purchase.purchaseState !== "pending") await this.finishOne(purchase);
    }
  }

  private async finishOne(purchase: Purchase): Promise<void> {
    const isConsumable = this.options.isConsumable?.(purchase) ?? false;
    if (purchase.isAcknowledgedAndroid && !isConsumable) return;
    try {
      await this.library.finishTransaction({ purchase, isConsumable });
    } catch (error) {
      // The store hands it over again, and the server has it already.
      this.options.onError?.(error);
    }
  }

  private retryLater(): void {
    this.cancelRetry?.();
    if (this.isStopped) return;
    this.cancelRetry = schedule(() => void (this.isUnread ? this.restore() : this.flush()), this.pause);
    this.pause = Math.min(longestPause, this.pause * 2);
  }
}

function isSignedOut(error: unknown): boolean {
  return error instanceof TideoverError && error.code === "signed-out";
}
