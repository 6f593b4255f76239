//! A layer around tower-lsp's service that mends what it leaves open in 0.20:
//!
//! * `exit` does not end the process while stdin stays open; here it does, with 0 after `shutdown` and 1 without.
//! * A panic in a handler unwinds the transport and leaves a silent process; here it becomes an error of that request.
//! * `shutdown` with `"params": null`, as some clients send it, is refused as invalid; here the params are dropped.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tower::Service;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

/// Whether the session was shut down, and a signal when the client says `exit`.
#[derive(Debug, Default)]
pub struct Lifecycle {
    shutdown: AtomicBool,
    exit: Notify,
}

impl Lifecycle {
    /// Resolves when the client says `exit`.
    pub async fn exited(&self) {
        self.exit.notified().await;
    }

    /// The exit status that the specification asks for.
    pub fn status(&self) -> u8 {
        u8::from(!self.shutdown.load(Ordering::SeqCst))
    }
}

/// The wrapped service.
#[derive(Debug)]
pub struct Guard<S> {
    inner: S,
    lifecycle: Arc<Lifecycle>,
}

impl<S> Guard<S> {
    pub fn new(inner: S, lifecycle: Arc<Lifecycle>) -> Self {
        Self { inner, lifecycle }
    }
}

type Answer<E> = Pin<Box<dyn Future<Output = Result<Option<Response>, E>> + Send>>;

impl<S> Service<Request> for Guard<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Answer<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let request = match request.method() {
            "exit" => {
                self.lifecycle.exit.notify_one();
                return Box::pin(async { Ok(None) });
            }
            "shutdown" => {
                self.lifecycle.shutdown.store(true, Ordering::SeqCst);
                without_params(request)
            }
            _ => request,
        };
        let (id, method) = (request.id().cloned(), request.method().to_owned());
        match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(future) => Box::pin(caught(future, id, method)),
            Err(panic) => {
                let answer = panicked(id, &method, panic.as_ref());
                Box::pin(async move { Ok(answer) })
            }
        }
    }
}

fn without_params(request: Request) -> Request {
    let (method, id, _) = request.into_parts();
    let builder = Request::build(method);
    match id {
        Some(id) => builder.id(id).finish(),
        None => builder.finish(),
    }
}

/// Polls a handler; a panic in it becomes the error of its request, and the handler is not polled again.
async fn caught<F, E>(future: F, id: Option<Id>, method: String) -> Result<Option<Response>, E>
where
    F: Future<Output = Result<Option<Response>, E>>,
{
    let mut future = Box::pin(future);
    let polled = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(answer)) => Poll::Ready(Ok(answer)),
        Err(panic) => Poll::Ready(Err(panic)),
    });
    match polled.await {
        Ok(answer) => answer,
        Err(panic) => Ok(panicked(id, &method, panic.as_ref())),
    }
}

fn panicked(id: Option<Id>, method: &str, panic: &(dyn Any + Send)) -> Option<Response> {
    let what = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown".to_owned());
    tracing::error!(method, "internal error: {what}");
    let mut error = Error::internal_error();
    error.message = format!("ATen Lens: internal error in {method}; the server goes on").into();
    id.map(|id| Response::from_error(id, error))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Answers `ok`, panics at once or in its future, or refuses params, by method.
    struct Inner;

    impl Service<Request> for Inner {
        type Response = Option<Response>;
        type Error = std::convert::Infallible;
        type Future = Answer<Self::Error>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Self::Future {
            let (method, id, params) = request.into_parts();
            assert!(method != "panics/now", "at once");
            Box::pin(async move {
                assert!(method != "panics/later", "later");
                let refused = method == "shutdown" && params.is_some();
                let result = if refused { Err(Error::invalid_params("no params")) } else { Ok(json!("ok")) };
                Ok(id.map(|id| Response::from_parts(id, result)))
            })
        }
    }

    fn ask(method: &'static str) -> Request {
        Request::build(method).params(json!(null)).id(7).finish()
    }

    #[tokio::test]
    async fn a_panic_is_the_error_of_its_request_and_the_next_is_answered() {
        let mut guard = Guard::new(Inner, Arc::default());
        for method in ["panics/now", "panics/later"] {
            let answer = guard.call(ask(method)).await.expect("infallible").expect("an answer");
            assert!(answer.error().is_some_and(|error| error.message.contains(method)));
        }
        let answer = guard.call(ask("fine")).await.expect("infallible").expect("an answer");
        assert!(answer.is_ok());
    }

    #[tokio::test]
    async fn shutdown_with_null_params_is_accepted_and_exit_ends_with_zero() {
        let lifecycle = Arc::new(Lifecycle::default());
        let mut guard = Guard::new(Inner, lifecycle.clone());
        assert_eq!(lifecycle.status(), 1);
        let answer = guard.call(ask("shutdown")).await.expect("infallible").expect("an answer");
        assert!(answer.is_ok());
        assert!(guard.call(Request::build("exit").finish()).await.expect("infallible").is_none());
        lifecycle.exited().await;
        assert_eq!(lifecycle.status(), 0);
    }
}
