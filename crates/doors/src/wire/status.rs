//! CUDA's error numbers, as far as they are used: what calls answer with. The runtime's and the driver's are the same but for
//! those of the runtime's own.

macro_rules! statuses {
    ($($number:literal $name:ident $runtime:literal $text:literal)*) => {
        $(#[doc = $text] pub const $name: u32 = $number;)*

        /// The runtime's name of an error and what it says.
        pub fn named(status: u32) -> Option<(&'static str, &'static str)> {
            match status {
                $($number => Some(($runtime, $text)),)*
                _ => None,
            }
        }
    };
}

statuses! {
    0 SUCCESS "cudaSuccess" "no error"
    1 INVALID_VALUE "cudaErrorInvalidValue" "invalid argument"
    2 OUT_OF_MEMORY "cudaErrorMemoryAllocation" "out of memory"
    3 NOT_INITIALIZED "cudaErrorInitializationError" "initialization error"
    4 UNLOADING "cudaErrorCudartUnloading" "driver shutting down"
    9 INVALID_CONFIGURATION "cudaErrorInvalidConfiguration" "invalid configuration argument"
    12 INVALID_PITCH "cudaErrorInvalidPitchValue" "invalid pitch argument"
    13 INVALID_SYMBOL "cudaErrorInvalidSymbol" "invalid device symbol"
    17 INVALID_DEVICE_POINTER "cudaErrorInvalidDevicePointer" "invalid device pointer"
    18 INVALID_TEXTURE "cudaErrorInvalidTexture" "invalid texture reference"
    20 INVALID_CHANNEL "cudaErrorInvalidChannelDescriptor" "invalid channel descriptor"
    21 INVALID_COPY_DIRECTION "cudaErrorInvalidMemcpyDirection" "invalid copy direction for memcpy"
    36 INCOMPATIBLE_DRIVER "cudaErrorCallRequiresNewerDriver" "API call is not supported in the installed CUDA driver"
    52 MISSING_CONFIGURATION "cudaErrorMissingConfiguration" "__global__ function call is not configured"
    98 INVALID_FUNCTION "cudaErrorInvalidDeviceFunction" "invalid device function"
    100 NO_DEVICE "cudaErrorNoDevice" "no CUDA-capable device is detected"
    101 INVALID_DEVICE "cudaErrorInvalidDevice" "invalid device ordinal"
    200 INVALID_IMAGE "cudaErrorInvalidKernelImage" "device kernel image is invalid"
    201 INVALID_CONTEXT "cudaErrorDeviceUninitialized" "invalid device context"
    209 NO_BINARY "cudaErrorNoKernelImageForDevice" "no kernel image is available for execution on the device"
    217 PEER_UNSUPPORTED "cudaErrorPeerAccessUnsupported" "peer access is not supported between these two devices"
    218 INVALID_PTX "cudaErrorInvalidPtx" "a PTX JIT compilation failed"
    301 FILE_NOT_FOUND "cudaErrorFileNotFound" "file not found"
    400 INVALID_HANDLE "cudaErrorInvalidResourceHandle" "invalid resource handle"
    401 ILLEGAL_STATE "cudaErrorIllegalState" "the operation cannot be performed in the present state"
    500 NOT_FOUND "cudaErrorSymbolNotFound" "named symbol not found"
    600 NOT_READY "cudaErrorNotReady" "device not ready"
    700 ILLEGAL_ADDRESS "cudaErrorIllegalAddress" "an illegal memory access was encountered"
    701 OUT_OF_RESOURCES "cudaErrorLaunchOutOfResources" "too many resources requested for launch"
    702 LAUNCH_TIMEOUT "cudaErrorLaunchTimeout" "the launch timed out and was terminated"
    704 PEER_ALREADY_ENABLED "cudaErrorPeerAccessAlreadyEnabled" "peer access is already enabled"
    705 PEER_NOT_ENABLED "cudaErrorPeerAccessNotEnabled" "peer access has not been enabled"
    708 SET_ON_ACTIVE "cudaErrorSetOnActiveProcess" "cannot set while device is active in this process"
    710 ASSERT "cudaErrorAssert" "device-side assert triggered"
    712 ALREADY_REGISTERED "cudaErrorHostMemoryAlreadyRegistered" "part or all of the requested memory range is already mapped"
    713 NOT_REGISTERED "cudaErrorHostMemoryNotRegistered" "pointer does not correspond to a registered memory region"
    716 MISALIGNED "cudaErrorMisalignedAddress" "misaligned address"
    719 LAUNCH_FAILURE "cudaErrorLaunchFailure" "unspecified launch failure"
    720 COOPERATIVE_TOO_LARGE "cudaErrorCooperativeLaunchTooLarge" "too many blocks in cooperative launch"
    800 NOT_PERMITTED "cudaErrorNotPermitted" "operation not permitted"
    801 NOT_SUPPORTED "cudaErrorNotSupported" "operation not supported"
    900 CAPTURE_UNSUPPORTED "cudaErrorStreamCaptureUnsupported" "operation not permitted when stream is capturing"
    901 CAPTURE_INVALIDATED "cudaErrorStreamCaptureInvalidated" "operation failed due to a previous error during capture"
    904 CAPTURE_UNJOINED "cudaErrorStreamCaptureUnjoined" "capturing stream has unjoined work"
    905 CAPTURE_ISOLATION "cudaErrorStreamCaptureIsolation" "dependency created on uncaptured work in another stream"
    906 CAPTURE_IMPLICIT "cudaErrorStreamCaptureImplicit" "operation would make the legacy stream depend on a capturing blocking stream"
    910 UPDATE_FAILURE "cudaErrorGraphExecUpdateFailure" "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"
    999 UNKNOWN "cudaErrorUnknown" "unknown error"
}
